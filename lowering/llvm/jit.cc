// Compilation in memory: ORC's LLJIT, eagerly. Undefined symbols are found in the given files (external nodes) and in
// the process (libm, the runtime's kernels). No external node has the name of something in the process
// (check_externals, compiler/pipeline.cc), so these come from the files alone.
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ThreadSafeModule.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/DynamicLibrary.h>
#include <llvm/Support/MemoryBuffer.h>

#include "lowering/llvm/compiled_module.h"
#include "lowering/llvm/shared_library.h"

namespace rml {

struct Jit::State {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

Jit::Jit(std::unique_ptr<State> state) : state_(std::move(state)) {}
Jit::~Jit() = default;

namespace {

bool ends_with(const std::string& name, std::string_view suffix) {
  return name.size() >= suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
}

llvm::Error add_library(llvm::orc::LLJIT& jit, const std::string& path) {
  llvm::orc::JITDylib& main = jit.getMainJITDylib();
  if (ends_with(path, ".a")) {
    auto archive = llvm::orc::StaticLibraryDefinitionGenerator::Load(jit.getObjLinkingLayer(), path.c_str());
    if (!archive) return archive.takeError();
    main.addGenerator(std::move(*archive));
    return llvm::Error::success();
  }
  if (ends_with(path, ".o")) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return llvm::createStringError(buffer.getError(), "%s: %s", path.c_str(), buffer.getError().message().c_str());
    return jit.addObjectFile(std::move(*buffer));
  }
  // Its symbols are this program's alone; it stays open for as long as the process lives.
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return llvm::createStringError(llvm::inconvertibleErrorCode(), "%s", dlerror());
  main.addGenerator(std::make_unique<llvm::orc::DynamicLibrarySearchGenerator>(
      llvm::sys::DynamicLibrary(handle), jit.getDataLayout().getGlobalPrefix(),
      [handle](const auto& name) { return own_symbol(handle, (*name).str().c_str()) != nullptr; }));
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> make_jit(CompiledModule::State& compiled,
                                                           const std::vector<std::string>& libraries) {
  llvm::TargetMachine& machine = *compiled.machine;
  llvm::orc::JITTargetMachineBuilder builder(machine.getTargetTriple());
  builder.setCPU(machine.getTargetCPU().str());
  builder.addFeatures(llvm::SubtargetFeatures(machine.getTargetFeatureString()).getFeatures());
  builder.setOptions(machine.Options);
  builder.setCodeGenOptLevel(machine.getOptLevel());
  builder.setRelocationModel(llvm::Reloc::PIC_);
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create();
  if (!jit) return jit.takeError();
  // What is missing comes back from lookup; it is not printed as well.
  (*jit)->getExecutionSession().setErrorReporter([](llvm::Error e) { llvm::consumeError(std::move(e)); });
  auto process =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess((*jit)->getDataLayout().getGlobalPrefix());
  if (!process) return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  for (const std::string& path : libraries) {
    if (auto failed = add_library(**jit, path)) return failed;
  }
  const std::string program = compiled.program;
  if (auto failed = (*jit)->addIRModule({std::move(compiled.module), std::move(compiled.context)})) return failed;
  if (program.empty()) return jit;
  auto address = (*jit)->lookup(program);
  if (!address) return address.takeError();
  return jit;
}

}  // namespace

std::unique_ptr<Jit> Jit::create(std::unique_ptr<CompiledModule> module, const std::vector<std::string>& libraries,
                                 std::string& error) {
  auto jit = make_jit(module->state(), libraries);
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
