// Binds external functions of shared libraries in a program that is a file. This file includes no LLVM headers.
//
// The module gets a function for each of them, which jumps to the library's function, and one that runs before main and
// opens the libraries like `rmlc run`, each in a scope of its own. So no library can replace a function that the
// program calls.
#pragma once

#include <string>
#include <vector>

#include "lowering/llvm/toolchain/compiled_module.h"

namespace rml {

struct SharedFunction {
  std::string symbol, library;
};

// Must be called after all code was emitted. The module calls external functions as external_symbol(symbol).
void bind_shared(CompiledModule&, const std::vector<SharedFunction>& functions);

}  // namespace rml
