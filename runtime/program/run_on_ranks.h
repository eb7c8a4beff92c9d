// Runs a program as one of several ranks: processes that mpirun has started, threads of this
// process (--ranks), or a single rank of a program that deals out its rows. Any other program
// simply runs.
//
// Ranks begin after they have verified that they run the same program with the same options and
// files. They end together: an error of one rank ends all of them, and each message names that
// rank. Rank 0 writes the rows, the state and the curves.
#pragma once

#include "runtime/base/rmlrt.h"
#include "runtime/options/options.h"

namespace rml::rt {

// Runs the program on several threads. Returns and throws as run_program does.
int run_on_ranks(const rml_program& program, const Options& options);

}  // namespace rml::rt
