// Compilation in memory. Without LLVM's headers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lowering/llvm/toolchain/compiled_module.h"

namespace rml {

// Finds the function of a name; null: there is none.
using FindFunction = std::function<void*(const std::string& name)>;

// What code in memory is linked with: an object or an archive, or else what finds functions in memory.
struct Linked {
  std::string file;
  FindFunction find = nullptr;
};

// An external function, which code calls as external_symbol(name).
struct FoundExternal {
  std::string name;
  void* address = nullptr;  // null: an object or an archive defines it
};

// External functions, and what they are linked with: the code that calls them sees nothing else of it.
struct LinkedExternals {
  std::vector<FoundExternal> functions;
  std::vector<Linked> links;
};

// Compiles in memory (ORC) and returns the address of a symbol, e.g. NODE_program; the code lives as long as the Jit.
// What it calls is looked for in the order of the list, and nowhere else; an external function among the externals
// alone.
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
