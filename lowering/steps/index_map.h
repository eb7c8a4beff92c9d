// Index arithmetic for loop fusion: from which element of an operand an element of the result is computed.
//
// A pointwise operator computes each element of its result from one element of each operand, at a place that follows
// from static index arithmetic: elementwise operators with their broadcasts, slices, transpositions, outer products,
// reshapes that only add or drop axes of extent 1. A chain of such operators becomes one loop:
//
//   y[i, j] = f(transpose(x)[i, 2 + j])  =  f(x[2 + j, i])
#pragma once

#include <optional>

#include "semantics/core/core.h"

namespace rml {

// The index along one axis of a tensor: start + step * (the loop's index on axis `loop`), or start if `loop` is
// SIZE_MAX.
struct AxisMap {
  std::size_t loop = SIZE_MAX;
  std::int64_t start = 0, step = 0;
  friend bool operator==(const AxisMap&, const AxisMap&) = default;
};
using IndexMap = std::vector<AxisMap>;

// The map of the tensor whose shape the loop has. An axis of extent 1 has no loop, here and in all maps derived from
// this one, so equal places have equal maps.
IndexMap identity_map(const Shape&);

// The place in the operand from which v's element at `map` is computed; nothing if v's operator is not pointwise.
std::optional<IndexMap> operand_map(const Core&, ValueId v, std::size_t operand, const IndexMap& map);

bool is_pointwise(const Core&, ValueId);
// True if the operator is pointwise and only rearranges elements of its operand.
bool is_view(const Core&, ValueId);
// True if the value is stored inside its first operand, if that operand is large, instead of being copied.
bool is_part(const Core&, ValueId);
// True if each element of the operand is read at most once.
bool reads_once(const Core&, ValueId v, std::size_t operand);

}  // namespace rml
