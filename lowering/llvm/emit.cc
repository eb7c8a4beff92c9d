// Runs the back end: from Steps to an optimised module.
#include "lowering/llvm/emit.h"

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>

#include <stdexcept>

#include "lowering/llvm/interface/buffered.h"
#include "lowering/llvm/interface/step.h"
#include "lowering/llvm/lanes/refused.h"
#include "lowering/llvm/operators/call.h"
#include "lowering/llvm/operators/compute.h"
#include "lowering/llvm/program/program.h"
#include "lowering/llvm/program/table.h"
#include "lowering/llvm/toolchain/module_state.h"

namespace rml {

namespace {

// Suppresses LLVM's remarks about loops with prescribed vectorisation (elements/sums.cc).
struct ErrorsOnly final : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo& said) override { return said.getSeverity() != llvm::DS_Error; }
};

// Lanes in a program (rather than a library) are requested because of keys.
void require_lanes(const codegen::Emission& module, bool table) {
  const steps::Program& program = module.program;
  if (!program.straight || program.on_demand != nullptr)
    throw codegen::NoLanes("rows wait for later ones of their state", nullptr);
  if (table && module.layout.apart == 0) throw codegen::NoLanes("the program has no state to keep for a key", nullptr);
}

void emit_parts(codegen::Emission& module, CompiledModule::State& state) {
  const EmitOptions& options = module.options;
  const bool table = options.with_program || options.with_main;
  const bool buffered = options.with_c_interface && !module.program.straight;
  if (options.with_lanes) require_lanes(module, table);
  codegen::ProgramFunctions functions;
  if (table || buffered) functions = codegen::emit_program(module);
  if (buffered) codegen::emit_buffered_interface(module, functions);
  if (table && options.with_run && module.program.straight)
    functions.run = codegen::emit_many_cycles(module, functions.push, functions.pop);
  if (module.layout.apart > 0) codegen::emit_together(module, functions);
  state.memory = module.layout.memory_use();
  if (table) {
    codegen::emit_table(module, functions);
    state.program = options.program_name + "_program";
  }
  if (options.with_c_interface && module.program.straight) codegen::emit_step_interface(module);
  if (options.with_main) codegen::emit_main(module);
  module.debug.finish();
}

}  // namespace

std::unique_ptr<CompiledModule> emit(const steps::Program& program, const SourceMap& sources, const EmitOptions& asked,
                                     NotEmitted& error) {
  EmitOptions options = asked;
  if (options.program_name.empty()) options.program_name = program.core->entry;
  auto state = std::make_unique<CompiledModule::State>();
  state->target = options.target;
  state->context = std::make_unique<llvm::LLVMContext>();
  state->context->setDiagnosticHandler(std::make_unique<ErrorsOnly>());
  state->machine = codegen::make_target_machine(options.target, error.text);
  if (state->machine == nullptr) return nullptr;
  state->module = std::make_unique<llvm::Module>(options.program_name, *state->context);
  state->module->setTargetTriple(state->machine->getTargetTriple().str());
  state->module->setDataLayout(state->machine->createDataLayout());
  state->module->setPICLevel(llvm::PICLevel::BigPIC);

  if (program.network && state->module->getDataLayout().getPointerSize() != 8) {
    error.text = "a network of tasks needs a processor of 64 bits";
    return nullptr;
  }
  codegen::Emission module(program, sources, options, *state->module,
                           codegen::describe(options.target, *state->module, *state->machine), codegen::compute);
  try {
    emit_parts(module, *state);
  } catch (const codegen::NoLanes& refused) {
    error = {"--lanes: '" + program.core->entry + "' has no lanes: " + refused.what, module.debug.line(refused.at)};
    return nullptr;
  } catch (const codegen::NeedsArchive& missing) {
    error = {"`" + std::string(missing.operation) + "` of " + missing.operand + " calls " +
                 std::string(missing.archive) + ", which is not built for '" + options.target.triple + "'",
             missing.at, missing.note};
    return nullptr;
  }
  for (llvm::Function& f : *state->module) {
    if (f.isDeclaration()) continue;
    f.addFnAttr("target-cpu", state->machine->getTargetCPU());
    f.addFnAttr("target-features", state->machine->getTargetFeatureString());
#ifdef RML_TSAN
    if (program.network) f.addFnAttr(llvm::Attribute::SanitizeThread);
#endif
  }

  std::string broken = codegen::verify_module(*state->module);
  if (broken.empty()) {
    codegen::optimize(*state->module, *state->machine, options.target);
    broken = codegen::verify_module(*state->module);
  }
  if (!broken.empty()) throw std::logic_error("code generation made invalid LLVM IR: " + broken);
  return std::make_unique<CompiledModule>(std::move(state));
}

}  // namespace rml
