// Compilation in memory. This file includes no LLVM headers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lowering/llvm/toolchain/compiled_module.h"

namespace rml {

// Finds a function by name; null if there is none.
using FindFunction = std::function<void*(const std::string& name)>;

// Something that code in memory is linked with: an object or archive, or a callback that finds functions in memory.
struct Linked {
  std::string file;
  FindFunction find = nullptr;
};

// An external function, which code calls as external_symbol(name).
struct FoundExternal {
  std::string name;
  void* address = nullptr;  // null: an object or an archive defines it
};

// External functions and the files that they are linked with. The calling code sees nothing else of these files.
struct LinkedExternals {
  std::vector<FoundExternal> functions;
  std::vector<Linked> links;
};

// Compiles in memory (ORC) and returns the address of a symbol, e.g. NODE_program. The code lives as long as the Jit.
// Its references are resolved in the order of the list, and nowhere else; external functions only among the externals.
class Jit {
 public:
  static std::unique_ptr<Jit> create(std::unique_ptr<CompiledModule>, std::vector<Linked>, std::string& error,
                                     LinkedExternals = {});
  ~Jit();
  void* symbol(const std::string& name, std::string& error);

 private:
  struct State;
  explicit Jit(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

}  // namespace rml
