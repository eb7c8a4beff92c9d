// Uses LLVM's implementation of gdb's interface for code that is made at run time (debugger.h).
#include "lowering/llvm/toolchain/debugger.h"

#include <llvm/ExecutionEngine/Orc/DebugObjectManagerPlugin.h>
#include <llvm/ExecutionEngine/Orc/EPCDebugObjectRegistrar.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderGDB.h>

#include <memory>
#include <utility>

namespace rml {

void show_to_debuggers(llvm::orc::LLJIT& jit) {
  auto* const layer = llvm::dyn_cast<llvm::orc::ObjectLinkingLayer>(&jit.getObjLinkingLayer());
  if (layer == nullptr) return;
  llvm::orc::ExecutionSession& session = jit.getExecutionSession();
  auto registrar = std::make_unique<llvm::orc::EPCDebugObjectRegistrar>(
      session, llvm::orc::ExecutorAddr::fromPtr(&llvm_orc_registerJITLoaderGDBAllocAction));
  layer->addPlugin(std::make_unique<llvm::orc::DebugObjectManagerPlugin>(session, std::move(registrar), true, true));
}

}  // namespace rml
