// Members of a compiled module, behind whose header LLVM's own objects are.
#include "lowering/llvm/toolchain/module_state.h"

namespace rml {

CompiledModule::CompiledModule(std::unique_ptr<State> state) : state_(std::move(state)) {}
CompiledModule::CompiledModule(CompiledModule&&) noexcept = default;
CompiledModule::~CompiledModule() = default;
MemoryUse CompiledModule::memory() const { return state_->memory; }

}  // namespace rml
