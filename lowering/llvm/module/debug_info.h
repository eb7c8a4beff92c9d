// Debug information that leads from machine code to lines of .rml files.
//
// The module has one compile unit, and one subprogram per function that runs a unit's statements, named after the unit.
// Every instruction carries the place of the equation it computes, so debuggers stop at .rml lines and profilers
// attribute time to them. Without optimisation, debuggers also see the variables of the source, under their paths.
#pragma once

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <map>

#include "frontend/source.h"
#include "semantics/core/core.h"

namespace rml::codegen {

class DebugInfo {
 public:
  DebugInfo(llvm::Module&, const SourceMap&, bool optimized);
  // Attaches a subprogram to the function.
  llvm::DISubprogram* begin(llvm::Function&, const std::string& name, Span);
  llvm::DebugLoc location(llvm::DISubprogram*, Span);
  // The line of a location, without any prefix. Nothing for generated locations.
  Span line(const llvm::DebugLoc&) const;
  // Tells the debugger that a value of the source is in `storage`, or at the address there. Does nothing with
  // optimisation, because values then leave their storage.
  void variable(llvm::AllocaInst* storage, const Value&, bool by_pointer);
  void finish() { builder_.finalize(); }

 private:
  llvm::DIFile* file(std::uint32_t);
  llvm::DIType* type(DType, const Shape&);
  const SourceMap& sources_;
  llvm::DIBuilder builder_;
  llvm::DICompileUnit* unit_ = nullptr;
  std::map<std::uint32_t, llvm::DIFile*> files_;
  std::map<std::pair<llvm::DISubprogram*, std::uint32_t>, llvm::DIScope*> scopes_;
  bool optimized_;
};

}  // namespace rml::codegen
