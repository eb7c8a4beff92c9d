// Writes a module as a file: object or assembly through the target's code generator, text, bitcode.
#include <llvm/ADT/SmallVector.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <stdexcept>

#include "lowering/llvm/toolchain/module_state.h"

namespace rml {

namespace {
// Generates machine code from a copy of the module, because code generation changes it.
std::string machine_code(CompiledModule::State& state, llvm::CodeGenFileType kind) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*state.module);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (state.machine->addPassesToEmitFile(passes, out, nullptr, kind)) {
    throw std::logic_error("target '" + state.machine->getTargetTriple().str() + "' cannot write such a file");
  }
  passes.run(*copy);
  return {bytes.data(), bytes.size()};
}
}  // namespace

std::string generate(CompiledModule& module, FileKind kind) {
  CompiledModule::State& state = module.state();
  std::string text;
  llvm::raw_string_ostream out(text);
  switch (kind) {
    case FileKind::object:
      return machine_code(state, llvm::CodeGenFileType::ObjectFile);
    case FileKind::assembly:
      return machine_code(state, llvm::CodeGenFileType::AssemblyFile);
    case FileKind::llvm_text:
      out << *state.module;
      return text;
    case FileKind::bitcode:
      llvm::WriteBitcodeToFile(*state.module, out);
      return text;
  }
  return {};
}

}  // namespace rml
