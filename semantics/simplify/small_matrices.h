// Linear algebra of small matrices without a library.
#pragma once

#include "semantics/core/core.h"
#include "semantics/operators/definition.h"

namespace rml {

// True if v is a result of an operator with a MatrixForm, for matrices that are small enough to be
// computed in code.
bool is_small_matrix(const Core&, ValueId v);
// Adds an equal value, computed by iterations over the rows of the matrix. v is as above, and has
// elements.
DefinitionTarget::Operand write_small_matrix(Core&, ValueId v);

}  // namespace rml
