// The C header that goes with the C interface (plain C99). Without LLVM's headers.
#pragma once

#include <string>

#include "lowering/llvm/module/emit_options.h"
#include "lowering/steps/steps.h"

namespace rml {

std::string c_header(const steps::Program&, const EmitOptions&);

}  // namespace rml
