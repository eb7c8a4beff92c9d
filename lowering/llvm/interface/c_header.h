// The C header of the C interface (plain C99). This file includes no LLVM headers.
#pragma once

#include <string>

#include "lowering/llvm/module/emit_options.h"
#include "lowering/steps/steps.h"

namespace rml {

std::string c_header(const steps::Program&, const EmitOptions&);

}  // namespace rml
