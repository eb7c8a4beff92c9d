// Which element of an operand an element of the result is computed from.
//
// A pointwise operator computes each element of its result from one element of each operand, and where
// that lies follows from static index arithmetic: elementwise operators with their broadcasts, slices,
// transpositions, outer products, reshapes that only add or drop axes of extent 1. Chains of them are one
// loop:
//
//   y[i, j] = f(transpose(x)[i, 2 + j])  =  f(x[2 + j, i])
#pragma once

#include <optional>

#include "semantics/core/core.h"

namespace rml {

// Along each axis of a tensor: start + step * (the loop's index on axis `loop`), or start where it is SIZE_MAX.
struct AxisMap {
  std::size_t loop = SIZE_MAX;
  std::int64_t start = 0, step = 0;
  friend bool operator==(const AxisMap&, const AxisMap&) = default;
};
using IndexMap = std::vector<AxisMap>;

// Of the tensor that the loop runs over itself. An axis of extent 1 has no loop, here and in all maps made from it:
// equal places have equal maps.
IndexMap identity_map(const Shape&);

// Where the operand is read for the element of v that `map` leads to; nothing if v's operator is not pointwise.
std::optional<IndexMap> operand_map(const Core&, ValueId v, std::size_t operand, const IndexMap& map);

bool is_pointwise(const Core&, ValueId);
// Pointwise, and nothing is computed: the result's elements are elements of the operand.
bool is_view(const Core&, ValueId);
// No copy where it is large: it lies in the memory of its first operand.
bool is_part(const Core&, ValueId);
// Each element of the operand is read at most once.
bool reads_once(const Core&, ValueId v, std::size_t operand);

}  // namespace rml
