// A compiled LLVM module, without LLVM's headers; its members are in module_state.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lowering/llvm/module/emit_options.h"

namespace rml {

// Owns one LLVM module (and its context) for one program.
class CompiledModule {
 public:
  ~CompiledModule();
  CompiledModule(CompiledModule&&) noexcept;
  MemoryUse memory() const;
  struct State;
  explicit CompiledModule(std::unique_ptr<State>);
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

enum class FileKind : std::uint8_t { object, assembly, llvm_text, bitcode };
// The bytes of a file of this kind, made from the module.
std::string generate(CompiledModule&, FileKind);

}  // namespace rml
