// Reads the lines of steps_text that describe a program on demand.
//
// The core determines which equations have a body, and what each body computes; the lines are compared with that. Only
// the steps of a body are new information.
#pragma once

#include <functional>

#include "lowering/demand/on_demand.h"
#include "lowering/schedule/form_reader.h"

namespace rml {

class EquationsReader : FormReader {
 public:
  // Prepares the reader. `sites` and `cuts` are the numbers of both in the program. `TextLines` keeps the first error.
  EquationsReader(TextLines&, std::shared_ptr<const Core>, std::size_t sites, std::size_t cuts);

  // Reads the steps of a body on the following lines; its ports must be those of the core.
  using ReadBody = std::function<std::shared_ptr<steps::Program>(const Core& like, const std::string& whose)>;
  // Reads the rest of a line that begins with `equation`. Returns true.
  bool equation(const ReadBody&);
  // Must be called at the end of the program. A body that was not read is a fault.
  void finish();
  std::shared_ptr<const steps::OnDemand> made() const { return made_; }

 private:
  std::shared_ptr<steps::OnDemand> made_;
  std::size_t read_ = 0;  // number of bodies read
};

}  // namespace rml
