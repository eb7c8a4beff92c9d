// Debug information that leads from machine code to lines of .rml files.
//
// One compile unit; one subprogram per function that runs a unit's statements, named after
// the unit; every instruction carries the place of the equation it computes, so debuggers
// stop at .rml lines and profilers attribute time to them.
#pragma once

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Module.h>

#include <map>

#include "frontend/source.h"

namespace rml::codegen {

class DebugInfo {
 public:
  DebugInfo(llvm::Module&, const SourceMap&, bool optimized);
  // Attaches a subprogram to the function.
  llvm::DISubprogram* begin(llvm::Function&, const std::string& name, Span);
  llvm::DebugLoc location(llvm::DISubprogram*, Span);
  void finish() { builder_.finalize(); }

 private:
  llvm::DIFile* file(std::uint32_t);
  const SourceMap& sources_;
  llvm::DIBuilder builder_;
  llvm::DICompileUnit* unit_ = nullptr;
  std::map<std::uint32_t, llvm::DIFile*> files_;
  std::map<std::pair<llvm::DISubprogram*, std::uint32_t>, llvm::DIScope*> scopes_;
  bool optimized_;
};

}  // namespace rml::codegen
