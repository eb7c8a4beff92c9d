// The members of CompiledModule. LLVM's objects are hidden behind its header.
#include "lowering/llvm/toolchain/module_state.h"

namespace rml {

CompiledModule::CompiledModule(std::unique_ptr<State> state) : state_(std::move(state)) {}
CompiledModule::CompiledModule(CompiledModule&&) noexcept = default;
CompiledModule::~CompiledModule() = default;
MemoryUse CompiledModule::memory() const { return state_->memory; }

}  // namespace rml
