// Writes the nests that compute the result of an operator.
#pragma once

#include <string_view>

#include "lowering/loops/scope.h"

namespace rml::loops {

using Writer = void (*)(Scope&, ValueId, Block&);

// Appends the statements that compute v, an operator's result.
void write_value(Scope&, ValueId v, Block&);
// The buffer of x for users that do not read it in loops. If x is computed in its users' loops otherwise, this computes
// it into the buffer.
BufferId in_memory(Scope&, ValueId x, Block&);

// The part of write_value for operators that combine elements (write_sums.cc).
void write_reduction(Scope&, ValueId v, Block&);
void write_place_of_extremum(Scope&, ValueId v, Block&);
void write_product(Scope&, ValueId v, Block&);
// The writer of a kernel that is expressed as nests (write_places.cc, write_windows.cc); null if there is none.
Writer writer_of_places(std::string_view name);
Writer writer_of_windows(WindowForm);
// The smallest number of the dtype.
Tensor least(DType);
// Sets all elements of the buffer.
void write_filling(Scope&, ValueId of, BufferId, const Tensor& element, Block&);

}  // namespace rml::loops
