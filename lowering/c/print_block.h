// Prints statements of loops as statements of C.
#pragma once

#include "lowering/c/scope.h"

namespace rml::c99 {

void print_block(Scope&, const loops::Block&);

// The names and places of statements that have no C; empty if all have.
std::vector<loops::Refusal> refused_statements(const loops::Program&);

}  // namespace rml::c99
