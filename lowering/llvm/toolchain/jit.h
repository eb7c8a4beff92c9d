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

// Compiles in memory (ORC) and returns the address of a symbol, e.g. NODE_program; the code lives as long as the Jit.
// What it calls is looked for in the order of the list, and nowhere else.
class Jit {
 public:
  static std::unique_ptr<Jit> create(std::unique_ptr<CompiledModule>, std::vector<Linked>, std::string& error);
  ~Jit();
  void* symbol(const std::string& name, std::string& error);

 private:
  struct State;
  explicit Jit(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

}  // namespace rml
