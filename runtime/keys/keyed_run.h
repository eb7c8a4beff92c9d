// A run with --key: each row is a cycle of the instance of its key (docs/manual/keys.md).
#pragma once

#include "runtime/base/rmlrt.h"
#include "runtime/options/options.h"

namespace rml::rt {

// Returns the exit status: 0, or 128 + the number of the signal that stopped the run. Throws
// Failure.
int run_keyed(const rml_program& program, const Options& options);

}  // namespace rml::rt
