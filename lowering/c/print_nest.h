// Prints a nest as `for` loops around assignments.
#pragma once

#include "lowering/c/scope.h"

namespace rml::c99 {

void print_nest(Scope&, const loops::Nest&);

}  // namespace rml::c99
