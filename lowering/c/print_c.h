// A program as C99: one source and one header, which need nothing but the four headers of C that they include.
//
// Before: loops, whose order says all that bits depend on. After: NODE_state as a struct with a field for each memory,
// NODE_init, NODE_reset, and NODE_step and NODE_run of straight programs or NODE_push and NODE_pop of others, as
// `--emit lib` has them (docs/manual/c_interface.md). A reader finds each equation in a comment above what computes it.
#pragma once

#include <string>

#include "frontend/source.h"
#include "lowering/loops/loops.h"

namespace rml::c99 {

struct Text {
  std::string header, source;
};

// What cannot be spelled; empty: all of it can, and then print_c may be called.
std::vector<loops::Refusal> find_refused(const loops::Program&);

// `header_name`: as the source includes it.
Text print_c(const loops::Program&, const SourceMap&, const std::string& header_name);

}  // namespace rml::c99
