// Runs LLVM's own pipelines, without passes that are known to slow down step functions.
//
// The SLP vectoriser turns delay lines and small parallel chains into vector loads of scalars that have just been
// stored, which costs up to a factor of two. Loops over tensors are vectorised from level 2 on, unless short code is
// preferred.
//
// With RML_TSAN, networks report to ThreadSanitizer what they read, write and hand over, like the runtime. It does not
// see vectors of more than 16 bytes.
#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Instrumentation/ThreadSanitizer.h>

#include <string>
#include <vector>

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

namespace {

constexpr unsigned wide = 512;

bool holds_wide_vectors(const llvm::Function& f) {
  return llvm::any_of(llvm::instructions(f), [](const llvm::Instruction& i) {
    const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(i.getType());
    return type != nullptr && type->getPrimitiveSizeInBits() >= wide;
  });
}

// If a function has vectors wider than LLVM prefers, LLVM also uses wide vectors for other loops of the function, and
// of its callers. Elsewhere it keeps to its preference: one wide store slows down a step of scalars by half.
void prefer_wide_vectors(llvm::Module& module) {
  std::vector<llvm::Function*> open;
  llvm::DenseSet<llvm::Function*> found;
  const auto add = [&](llvm::Function& f) {
    if (found.insert(&f).second) open.push_back(&f);
  };
  for (llvm::Function& f : module)
    if (holds_wide_vectors(f)) add(f);
  while (!open.empty()) {
    llvm::Function* const f = open.back();
    open.pop_back();
    f->addFnAttr("prefer-vector-width", std::to_string(wide));
    for (llvm::User* user : f->users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) add(*call->getFunction());
  }
}

}  // namespace

void optimize(llvm::Module& module, llvm::TargetMachine& machine, const TargetOptions& options) {
  const bool small = target_for(options).size_first;
  if (small)
    for (llvm::Function& f : module)
      f.addFnAttr(llvm::Attribute::OptimizeForSize), f.addFnAttr(llvm::Attribute::MinSize);
  if (has_wider_vectors(machine)) prefer_wide_vectors(module);
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
