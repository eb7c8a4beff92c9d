// The cycle loop: read a row, push it, pop and write the rows that are complete.
//
// Rows that were complete before the input, the program or an interruption stopped the run are
// written and flushed whatever stopped it. See docs/manual/programs.md and rmlrt.h.
#pragma once

#include "runtime/base/rmlrt.h"
#include "runtime/options/options.h"

namespace rml::rt {

// Returns the exit status (0, or 128 + signal). Throws Failure.
int run_program(const rml_program& program, const Options& options);

// rml_main for a program whose files are known: it writes over none of them.
int run_made_of(const std::vector<std::string>& sources, const rml_program* program, int argc, char** argv);

}  // namespace rml::rt
