// Compiles in memory by ORC's LLJIT, eagerly. Undefined symbols are looked up in the linked files and functions, in
// their order, and never in the process.
#include <llvm/BinaryFormat/Magic.h>
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

// Defines requested symbols, if the callback finds their functions.
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

llvm::Error add(llvm::orc::LLJIT& jit, llvm::orc::JITDylib& to, Linked linked) {
  if (linked.find) {
    to.addGenerator(std::make_unique<FoundFunctions>(std::move(linked.find)));
    return llvm::Error::success();
  }
  const std::string& path = linked.file;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError(buffer.getError(), "%s: %s", path.c_str(), buffer.getError().message().c_str());
  if (llvm::identify_magic((*buffer)->getBuffer()) == llvm::file_magic::archive) {
    auto archive = llvm::orc::StaticLibraryDefinitionGenerator::Load(jit.getObjLinkingLayer(), path.c_str());
    if (!archive) return archive.takeError();
    to.addGenerator(std::move(*archive));
    return llvm::Error::success();
  }
  return jit.addObjectFile(to, std::move(*buffer));
}

// Links objects and archives in a library of their own. Their own code sees their definitions; the program sees
// external functions only, by external_symbol(name).
llvm::Error add(llvm::orc::LLJIT& jit, LinkedExternals externals) {
  if (externals.functions.empty()) return llvm::Error::success();
  // A bare library: LLJIT defines functions such as atexit in every other one, and the files may define them as well.
  llvm::orc::JITDylib& apart = jit.getExecutionSession().createBareJITDylib("externals");
  apart.addToLinkOrder(jit.getMainJITDylib());
  for (Linked& linked : externals.links)
    if (auto failed = add(jit, apart, std::move(linked))) return failed;
  llvm::orc::SymbolMap found;
  llvm::orc::SymbolAliasMap aliases;
  for (const FoundExternal& f : externals.functions) {
    const auto called = jit.mangleAndIntern(external_symbol(f.name));
    if (f.address != nullptr) {
      found[called] = {llvm::orc::ExecutorAddr::fromPtr(f.address), llvm::JITSymbolFlags::Exported};
    } else {
      aliases[called] = {jit.mangleAndIntern(f.name), llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    }
  }
  llvm::orc::JITDylib& main = jit.getMainJITDylib();
  if (!found.empty())
    if (auto failed = main.define(llvm::orc::absoluteSymbols(std::move(found)))) return failed;
  return aliases.empty() ? llvm::Error::success() : main.define(llvm::orc::reexports(apart, std::move(aliases)));
}

// By default, LLJIT would link everything with all exported symbols of the process.
llvm::Expected<llvm::orc::JITDylibSP> nothing_of_the_process(llvm::orc::LLJIT& jit) {
  return &jit.getExecutionSession().createBareJITDylib("process");
}

// Uses the target machine for which the module was optimised. Creating one takes a millisecond, and LLJIT would create
// two more.
llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> make_jit(CompiledModule::State& compiled, std::vector<Linked> links,
                                                           LinkedExternals externals) {
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
  // lookup returns the error for a missing symbol, so the error is not printed as well.
  (*jit)->getExecutionSession().setErrorReporter([](llvm::Error e) { llvm::consumeError(std::move(e)); });
  write_perf_map(**jit);
  if (unoptimized) show_to_debuggers(**jit);
  for (Linked& linked : links) {
    if (auto failed = add(**jit, (*jit)->getMainJITDylib(), std::move(linked))) return failed;
  }
  if (auto failed = add(**jit, std::move(externals))) return failed;
  const std::string program = compiled.program;
  if (auto failed = (*jit)->addIRModule({std::move(compiled.module), std::move(compiled.context)})) return failed;
  if (program.empty()) return jit;
  auto address = (*jit)->lookup(program);
  if (!address) return address.takeError();
  return jit;
}

}  // namespace

std::unique_ptr<Jit> Jit::create(std::unique_ptr<CompiledModule> module, std::vector<Linked> links, std::string& error,
                                 LinkedExternals externals) {
  auto jit = make_jit(module->state(), std::move(links), std::move(externals));
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
