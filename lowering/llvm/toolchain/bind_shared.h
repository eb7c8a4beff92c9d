// External functions of shared libraries, in a program that is a file. Without LLVM's headers.
//
// The module gets a function for each of them, which goes on where the library's lies, and one that runs before main
// and opens the libraries as `rmlc run` does: each for itself. So a library takes no function's place that the program
// calls.
#pragma once

#include <string>
#include <vector>

#include "lowering/llvm/toolchain/compiled_module.h"

namespace rml {

struct SharedFunction {
  std::string symbol, library;
};

// After all of them has been emitted; the module calls external functions as external_symbol(symbol).
void bind_shared(CompiledModule&, const std::vector<SharedFunction>& functions);

}  // namespace rml
