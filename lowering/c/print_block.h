// Statements of loops as statements of C.
#pragma once

#include "lowering/c/scope.h"

namespace rml::c99 {

void print_block(Scope&, const loops::Block&);

// The name and place of what has no C; nothing: all of it has.
std::vector<loops::Refusal> refused_statements(const loops::Program&);

}  // namespace rml::c99
