// Prints NODE_push and NODE_pop for programs whose rows wait for later inputs, and the units between them.
#pragma once

#include "lowering/c/file.h"

namespace rml::c99 {

struct Units {
  Code functions;
  std::string of_queues;  // text of the functions of the queues, which precede the others
  Code initial;           // text of the statements of NODE_reset
};

// Prints the functions, and adds the fields of queues, arrays and units to the state.
Units print_units(File&);

}  // namespace rml::c99
