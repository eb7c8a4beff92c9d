// NODE_push and NODE_pop of programs whose rows wait for later inputs, and the units between them.
#pragma once

#include "lowering/c/file.h"

namespace rml::c99 {

struct Units {
  Code functions;
  std::string of_queues;  // functions in front of them
  Code initial;           // statements of NODE_reset
};

// Adds the fields of queues, arrays and units to the state.
Units print_units(File&);

}  // namespace rml::c99
