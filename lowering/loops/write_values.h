// What computes the result of an operator, as nests over buffers.
#pragma once

#include <string_view>

#include "lowering/loops/scope.h"

namespace rml::loops {

using Writer = void (*)(Scope&, ValueId, Block&);

// Appends what computes v, an operator's result.
void write_value(Scope&, ValueId v, Block&);
// Where x lies, for whoever does not read it in loops; what they compute otherwise is computed to there.
BufferId in_memory(Scope&, ValueId x, Block&);

// Of write_value: those that combine elements (write_sums.cc).
void write_reduction(Scope&, ValueId v, Block&);
void write_place_of_extremum(Scope&, ValueId v, Block&);
void write_product(Scope&, ValueId v, Block&);
// Of kernels that are written as nests, by the operator's name (write_places.cc, write_windows.cc); null: not there.
Writer writer_of_places(std::string_view name);
Writer writer_of_windows(std::string_view name);
// The smallest number that there is.
Tensor least(DType);
// All elements of the buffer.
void write_filling(Scope&, ValueId of, BufferId, const Tensor& element, Block&);

}  // namespace rml::loops
