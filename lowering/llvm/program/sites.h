// Emits the places in the source that tables refer to.
#pragma once

#include "lowering/llvm/module/emission.h"

namespace rml::codegen {

llvm::Constant* site_row(Emission&, Span, const std::string& message);

}  // namespace rml::codegen
