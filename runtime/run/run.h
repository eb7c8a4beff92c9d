// The cycle loop: reads a row, pushes it, then pops and writes the rows that are complete.
//
// If the input ends, the program fails or a signal interrupts the run, rows that were complete
// before are still written and flushed. See docs/manual/programs.md and rmlrt.h.
#pragma once

#include "runtime/base/rmlrt.h"
#include "runtime/options/options.h"

namespace rml::rt {

// Returns the exit status: 0, or 128 + the number of the signal that stopped the run. Throws
// Failure.
int run_program(const rml_program& program, const Options& options);

// As rml_main, for a program whose source files are known: the run refuses to overwrite them.
int run_made_of(const std::vector<std::string>& sources, const rml_program* program, int argc, char** argv);

}  // namespace rml::rt
