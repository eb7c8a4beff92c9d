// Splits a long list of statements into functions (parts).
#pragma once

#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Emits the code of `body` as a function of its own, which is called here and shares its values with the rest.
void emit_part(Function&, const std::function<void()>& body);

}  // namespace rml::codegen
