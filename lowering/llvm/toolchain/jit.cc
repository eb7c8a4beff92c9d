// Compilation in memory: ORC's LLJIT, eagerly. Undefined symbols are found in what the code is linked with, in that
// order, and never in the process.
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ThreadSafeModule.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include "lowering/llvm/toolchain/debugger.h"
#include "lowering/llvm/toolchain/jit.h"
#include "lowering/llvm/toolchain/module_state.h"
#include "lowering/llvm/toolchain/perf_map.h"

namespace rml {

struct Jit::State {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

Jit::Jit(std::unique_ptr<State> state) : state_(std::move(state)) {}
Jit::~Jit() = default;

namespace {

// Defines what is asked for and found.
class FoundFunctions final : public llvm::orc::DefinitionGenerator {
 public:
  explicit FoundFunctions(FindFunction find) : find_(std::move(find)) {}

  llvm::Error tryToGenerate(llvm::orc::LookupState&, llvm::orc::LookupKind, llvm::orc::JITDylib& to,
                            llvm::orc::JITDylibLookupFlags, const llvm::orc::SymbolLookupSet& wanted) override {
    llvm::orc::SymbolMap found;
    for (const auto& [name, flags] : wanted)
      if (void* const address = find_((*name).str()))
        found[name] = {llvm::orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
    return found.empty() ? llvm::Error::success() : to.define(llvm::orc::absoluteSymbols(std::move(found)));
  }

 private:
  FindFunction find_;
};

llvm::Error add(llvm::orc::LLJIT& jit, Linked linked) {
  llvm::orc::JITDylib& main = jit.getMainJITDylib();
  if (linked.find) {
    main.addGenerator(std::make_unique<FoundFunctions>(std::move(linked.find)));
    return llvm::Error::success();
  }
  const std::string& path = linked.file;
  if (path.ends_with(".a")) {
    auto archive = llvm::orc::StaticLibraryDefinitionGenerator::Load(jit.getObjLinkingLayer(), path.c_str());
    if (!archive) return archive.takeError();
    main.addGenerator(std::move(*archive));
    return llvm::Error::success();
  }
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError(buffer.getError(), "%s: %s", path.c_str(), buffer.getError().message().c_str());
  return jit.addObjectFile(std::move(*buffer));
}

// What LLJIT links everything with unless it is told otherwise would be all that the process exports.
llvm::Expected<llvm::orc::JITDylibSP> nothing_of_the_process(llvm::orc::LLJIT& jit) {
  return &jit.getExecutionSession().createBareJITDylib("process");
}

// Code comes from the machine that it was optimised for: describing one takes a millisecond, and LLJIT would make two
// more.
llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> make_jit(CompiledModule::State& compiled, std::vector<Linked> links) {
  const bool unoptimized = compiled.machine->getOptLevel() == llvm::CodeGenOptLevel::None;
  const auto compiler = [&](llvm::orc::JITTargetMachineBuilder) {
    return std::make_unique<llvm::orc::TMOwningSimpleCompiler>(std::move(compiled.machine));
  };
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder(compiled.machine->getTargetTriple()))
                 .setDataLayout(compiled.machine->createDataLayout())
                 .setCompileFunctionCreator(compiler)
                 .setProcessSymbolsJITDylibSetup(nothing_of_the_process)
                 .create();
  if (!jit) return jit.takeError();
  // What is missing comes back from lookup; it is not printed as well.
  (*jit)->getExecutionSession().setErrorReporter([](llvm::Error e) { llvm::consumeError(std::move(e)); });
  write_perf_map(**jit);
  if (unoptimized) show_to_debuggers(**jit);
  for (Linked& linked : links) {
    if (auto failed = add(**jit, std::move(linked))) return failed;
  }
  const std::string program = compiled.program;
  if (auto failed = (*jit)->addIRModule({std::move(compiled.module), std::move(compiled.context)})) return failed;
  if (program.empty()) return jit;
  auto address = (*jit)->lookup(program);
  if (!address) return address.takeError();
  return jit;
}

}  // namespace

std::unique_ptr<Jit> Jit::create(std::unique_ptr<CompiledModule> module, std::vector<Linked> links,
                                 std::string& error) {
  auto jit = make_jit(module->state(), std::move(links));
  if (!jit) {
    error = llvm::toString(jit.takeError());
    return nullptr;
  }
  auto state = std::make_unique<State>();
  state->jit = std::move(*jit);
  return std::unique_ptr<Jit>(new Jit(std::move(state)));
}

void* Jit::symbol(const std::string& name, std::string& error) {
  auto address = state_->jit->lookup(name);
  if (!address) {
    error = llvm::toString(address.takeError());
    return nullptr;
  }
  return address->toPtr<void*>();
}

}  // namespace rml
