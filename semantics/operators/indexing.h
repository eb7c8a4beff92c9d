// The families of which indexing_operators() consists.
#pragma once

#include "semantics/operators/operator.h"

namespace rml {

std::vector<OperatorInfo> rearrangement_operators();  // pad, tile, roll and other moves of elements (moves.h)
std::vector<OperatorInfo> gather_operators();         // take, scatter_nd, dynamic_slice, …
std::vector<OperatorInfo> ordering_operators();       // sort, argtopk, cumsum, …
std::vector<OperatorInfo> contraction_operators();    // einsum, tensordot

}  // namespace rml
