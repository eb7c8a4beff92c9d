// Emits places in the source as constants.
#include "lowering/llvm/program/sites.h"

namespace rml::codegen {

llvm::Constant* site_row(Emission& module, Span span, const std::string& message) {
  const bool known = span.file > 0 && span.file < module.sources.size();
  const LineColumn place = known ? module.sources.line_column(span.file, span.begin) : LineColumn{0, 0};
  return llvm::ConstantStruct::get(
      module.abi.site,
      {module.text(known ? module.sources.path(span.file) : ""), llvm::ConstantInt::get(module.i32(), place.line),
       llvm::ConstantInt::get(module.i32(), place.column), module.text(message)});
}

}  // namespace rml::codegen
