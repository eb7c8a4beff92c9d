// Prints a program as C99: one source and one header, which need only the four C headers that they include.
//
// Before: loops, whose order determines the bits of all results. After: NODE_state, a struct with a field for each
// memory; NODE_init and NODE_reset; and NODE_step and NODE_run for straight programs, or NODE_push and NODE_pop for
// others, as `--emit lib` has them (docs/manual/c_interface.md). A comment with the equation precedes the code that
// computes it.
#pragma once

#include <string>

#include "frontend/source.h"
#include "lowering/loops/loops.h"

namespace rml::c99 {

struct Text {
  std::string header, source;
};

// The parts that have no C. If there are none, print_c may be called.
std::vector<loops::Refusal> find_refused(const loops::Program&);

// Prints the program as C. The source includes the header by the name `header_name`.
Text print_c(const loops::Program&, const SourceMap&, const std::string& header_name);

}  // namespace rml::c99
