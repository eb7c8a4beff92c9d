// A run with --key: every row is a cycle of the instance of its key (docs/manual/keys.md).
#pragma once

#include "runtime/base/rmlrt.h"
#include "runtime/options/options.h"

namespace rml::rt {

// Returns the exit status (0, or 128 + signal). Throws Failure.
int run_keyed(const rml_program& program, const Options& options);

}  // namespace rml::rt
