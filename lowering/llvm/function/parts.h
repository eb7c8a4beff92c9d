// Parts: pieces of a long list of statements as functions of their own.
#pragma once

#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// What body writes becomes a function of its own, called here, which shares its values with the rest.
void emit_part(Function&, const std::function<void()>& body);

}  // namespace rml::codegen
