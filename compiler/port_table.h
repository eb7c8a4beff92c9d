// Describes ports of a core by rml_port of rmlrt.h, for code that reads or writes streams without
// compiled code.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "semantics/core/core.h"

namespace rml {

class PortTable {
 public:
  PortTable(const Core& core, const std::vector<Port>& ports);
  PortTable(const PortTable&) = delete;
  PortTable& operator=(const PortTable&) = delete;

  // The rows point into this object.
  std::vector<rml_port>& rows() { return rows_; }
  const std::vector<rml_port>& rows() const { return rows_; }

 private:
  std::deque<std::string> texts_;
  std::deque<std::vector<std::uint64_t>> dims_;
  std::vector<rml_port> rows_;
};

}  // namespace rml
