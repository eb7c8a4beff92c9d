// A run as one of several ranks: processes that mpirun has started, threads of this process (--ranks), or a program
// that deals out its rows and is alone. Any other runs as it always did.
//
// Ranks begin when they have found that they run the same, and end together: what one of them cannot go on with ends
// all, each with a message that names it. Rank 0 writes what is written: rows, state, curves.
#pragma once

#include "runtime/base/rmlrt.h"
#include "runtime/options/options.h"

namespace rml::rt {

// As run_program.
int run_on_ranks(const rml_program& program, const Options& options);

}  // namespace rml::rt
