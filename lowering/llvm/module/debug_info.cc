// Creates debug information from spans with a DIBuilder. The compile unit has the name of the first user's file.
#include "lowering/llvm/module/debug_info.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Support/Path.h>

#include <algorithm>

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

Span DebugInfo::line(const llvm::DebugLoc& at) const {
  if (!at || at.getLine() == 0) return {};
  const auto* where = llvm::cast<llvm::DIScope>(at.getScope())->getFile();
  const auto found = std::ranges::find(files_, where, [](const auto& known) { return known.second; });
  if (found == files_.end() || found->first == 0) return {};
  const std::string_view text = sources_.line(found->first, at.getLine());
  const std::uint32_t begin = sources_.line_begin(found->first, at.getLine());
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return {found->first, begin + static_cast<std::uint32_t>(first), begin + static_cast<std::uint32_t>(text.size())};
}

// Booleans are bytes. f16 and bf16, which C has no name for, are shown as their bits.
llvm::DIType* DebugInfo::type(DType dtype, const Shape& shape) {
  const std::uint64_t bits = 8 * byte_size(dtype);
  unsigned encoding = has_gradient(dtype) ? llvm::dwarf::DW_ATE_float : llvm::dwarf::DW_ATE_unsigned;
  if (is_signed(dtype)) encoding = llvm::dwarf::DW_ATE_signed;
  if (dtype == DType::boolean) encoding = llvm::dwarf::DW_ATE_boolean;
  llvm::DIType* element = builder_.createBasicType(name(dtype), bits, encoding);
  if (shape.empty()) return element;
  std::vector<llvm::Metadata*> extents;
  std::uint64_t count = 1;
  for (const std::int64_t extent : shape) {
    extents.push_back(builder_.getOrCreateSubrange(0, extent));
    count *= static_cast<std::uint64_t>(extent);
  }
  return builder_.createArrayType(count * bits, 0, element, builder_.getOrCreateArray(extents));
}

void DebugInfo::variable(llvm::AllocaInst* storage, const Value& value, bool by_pointer) {
  const Span span = value.span;
  llvm::DISubprogram* subprogram = storage->getFunction()->getSubprogram();
  if (optimized_ || value.name.empty() || subprogram == nullptr) return;
  if (span.file == 0 || span.file >= sources_.size()) return;
  const unsigned line = sources_.line_column(span.file, span.begin).line;
  auto* declared =
      builder_.createAutoVariable(subprogram, value.name, file(span.file), line, type(value.dtype, value.shape), true);
  auto* where = by_pointer ? builder_.createExpression({llvm::dwarf::DW_OP_deref}) : builder_.createExpression();
  auto* place = llvm::DILocation::get(subprogram->getContext(), line, 0, subprogram);
  builder_.insertDeclare(storage, declared, where, place, storage->getParent()->getTerminator());
}

}  // namespace rml::codegen
