// Reads the lines of steps_text about what runs on demand.
//
// Which equations have a body, and what it computes, follows from the core: what is read is held against that. Only the
// steps of a body are new.
#pragma once

#include <functional>

#include "lowering/demand/on_demand.h"
#include "lowering/schedule/form_reader.h"

namespace rml {

class EquationsReader : FormReader {
 public:
  // Of a program with so many sites and cuts. A fault is kept in the lines, here and later.
  EquationsReader(TextLines&, std::shared_ptr<const Core>, std::size_t sites, std::size_t cuts);

  // The steps on the lines that follow, with the ports of the core.
  using ReadBody = std::function<std::shared_ptr<steps::Program>(const Core& like, const std::string& whose)>;
  // Behind `equation`; true.
  bool equation(const ReadBody&);
  // At the end of the program. What is read is what this then has.
  void finish();
  std::shared_ptr<const steps::OnDemand> made() const { return made_; }

 private:
  std::shared_ptr<steps::OnDemand> made_;
  std::size_t read_ = 0;  // of the bodies
};

}  // namespace rml
