// DIBuilder, driven by spans. The compile unit is filed under the first user's file.
#include "lowering/llvm/debug_info.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Support/Path.h>

namespace rml::codegen {

DebugInfo::DebugInfo(llvm::Module& module, const SourceMap& sources, bool optimized)
    : sources_(sources), builder_(module), optimized_(optimized) {
  if (module.getModuleFlag("Dwarf Version") == nullptr) {
    module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
    module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
  }
  unit_ =
      builder_.createCompileUnit(llvm::dwarf::DW_LANG_C99, file(sources.size() > 1 ? 1 : 0), "rmlc", optimized, "", 0);
}

llvm::DIFile* DebugInfo::file(std::uint32_t index) {
  llvm::DIFile*& known = files_[index];
  if (known == nullptr) {
    const std::string path = index < sources_.size() && index > 0 ? sources_.path(index) : "<built-in>";
    known = builder_.createFile(llvm::sys::path::filename(path), llvm::sys::path::parent_path(path));
  }
  return known;
}

llvm::DISubprogram* DebugInfo::begin(llvm::Function& function, const std::string& name, Span span) {
  const unsigned line =
      span.file < sources_.size() && span.file > 0 ? sources_.line_column(span.file, span.begin).line : 0;
  auto* type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
  auto flags = llvm::DISubprogram::SPFlagDefinition;
  if (function.hasLocalLinkage()) flags |= llvm::DISubprogram::SPFlagLocalToUnit;
  if (optimized_) flags |= llvm::DISubprogram::SPFlagOptimized;
  llvm::DIFile* where = file(span.file);
  auto* subprogram =
      builder_.createFunction(where, name, function.getName(), where, line, type, line, llvm::DINode::FlagZero, flags);
  function.setSubprogram(subprogram);
  scopes_[{subprogram, span.file}] = subprogram;
  return subprogram;
}

llvm::DebugLoc DebugInfo::location(llvm::DISubprogram* subprogram, Span span) {
  if (span.file == 0 || span.file >= sources_.size()) {
    return llvm::DILocation::get(subprogram->getContext(), 0, 0, subprogram);
  }
  llvm::DIScope*& scope = scopes_[{subprogram, span.file}];
  if (scope == nullptr) scope = builder_.createLexicalBlockFile(subprogram, file(span.file));
  const LineColumn place = sources_.line_column(span.file, span.begin);
  return llvm::DILocation::get(subprogram->getContext(), place.line, place.column, scope);
}

}  // namespace rml::codegen
