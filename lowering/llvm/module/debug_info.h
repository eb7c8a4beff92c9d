// Debug information that leads from machine code to lines of .rml files.
//
// One compile unit; one subprogram per function that runs a unit's statements, named after
// the unit; every instruction carries the place of the equation it computes, so debuggers
// stop at .rml lines and profilers attribute time to them. Without optimisation the variables of the
// source are there as well, under their paths.
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
  // The line of a location, without what it begins with; none for what no user wrote.
  Span line(const llvm::DebugLoc&) const;
  // Where a debugger finds a value of the source: in `storage`, or where that points to. Nothing once it is optimised,
  // since no value stays where it is stored then.
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
