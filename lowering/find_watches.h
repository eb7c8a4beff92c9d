// What can be looked at from outside for values that are not finite: float outputs and cells, in the
// order in which their values are computed.
#pragma once

#include "lowering/steps.h"

namespace rml {

struct Watch {
  std::uint32_t output = UINT32_MAX;  // or
  CellId cell;
  ValueId value;  // what it shows; of a cell, what is stored
  ValueId named;  // whose equation tells more: that value, or the fby if only it has a name
};

std::vector<Watch> find_watches(const steps::Program&);

}  // namespace rml
