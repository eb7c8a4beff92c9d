// LLVM's own pipelines, with what is known to hurt step functions turned off.
//
// The SLP vectoriser turns delay lines and small parallel chains into vector loads of
// scalars that have just been stored, which costs up to a factor of two; loops over tensors
// are vectorised from level 2 on, but where size comes first.
//
// With RML_TSAN networks tell ThreadSanitizer what they read, write and hand over, as the runtime does. Vectors of more
// than 16 bytes it does not see.
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Instrumentation/ThreadSanitizer.h>

#include "lowering/llvm/toolchain/analyses.h"
#include "lowering/llvm/toolchain/blends.h"
#include "lowering/llvm/toolchain/module_state.h"

namespace rml::codegen {

std::string verify_module(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  bool broken_debug_info = false;
  const bool broken = llvm::verifyModule(module, &out, &broken_debug_info);
  if (!broken && !broken_debug_info) return {};
  return text.empty() ? "the module is broken" : text;
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine, const TargetOptions& options) {
  const bool small = target_for(options).size_first;
  if (small)
    for (llvm::Function& f : module)
      f.addFnAttr(llvm::Attribute::OptimizeForSize), f.addFnAttr(llvm::Attribute::MinSize);
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = options.optimization >= 2 && !small;
  tuning.LoopInterleaving = options.optimization >= 2 && !small;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  Analyses analyses(builder);
  static const llvm::OptimizationLevel levels[] = {llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
                                                   llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  const auto level = levels[options.optimization < 0 ? 0 : options.optimization > 3 ? 3 : options.optimization];
  llvm::ModulePassManager passes =
      options.optimization <= 0 ? builder.buildO0DefaultPipeline(level) : builder.buildPerModuleDefaultPipeline(level);
#ifdef RML_TSAN
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::ThreadSanitizerPass()));
#endif
  passes.run(module, analyses.modules);
  if (options.optimization > 0 && machine.getTargetTriple().isX86()) make_blends(module);
}

}  // namespace rml::codegen
