// Pointwise values, as trees over tensors that are in memory.
//
// An inlined operand is not read but computed where it is used, down to tensors that are in
// memory (the leaves); slices, transpositions and broadcasts on the way are index arithmetic:
//
//   %7 = mul %4 %5 (inlined)          for i { %9[i] = %4[i] * %5[i % 3] + %6[2 + i] }
//   %8 = slice %6 (inlined)
//   %9 = add %7 %8
//
// Each leaf is a view with a base and a stride for each axis of the loop.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lowering/llvm/function/walk.h"
#include "lowering/steps/index_map.h"

namespace rml::codegen {

// Operands come before what is computed from them, the root last.
struct Expression {
  struct Leaf {
    ValueId value;
    Strides strides;  // by axis of the loop
    std::int64_t base = 0;
  };
  struct Node {
    ValueId value;
    IndexMap map;
    std::vector<std::size_t> operands;
    std::size_t leaf = SIZE_MAX;  // SIZE_MAX: computed from the operands
  };
  std::size_t rank = 0;  // of the loop
  std::vector<Node> nodes;
  std::vector<Leaf> leaves;
};

// Adds v, seen through the map, to an expression; the number of its node. v is computed if `root`, even if it is not
// inlined.
std::size_t gather(const Function&, Expression&, ValueId v, const IndexMap&, bool root);
// Of a loop over v's shape. All leaves are in memory.
Expression expression(Function&, ValueId v, bool root);

std::vector<Strides> leaf_views(const Expression&);
// The loop's elements, in row-major order, are those of the tensor; or all of them are one.
bool runs_through(const Strides&, const Shape&);
bool is_uniform(const Strides&);
// The operator is the same instructions for vectors of such operands.
bool works_on_vectors(const OperatorInfo&, DType operand);

// Of one element of a loop whose first views are written; nothing where an operation can fail: which one does first is
// seen.
Work work(const Function&, const Expression&, std::size_t written);

// The values of all nodes, from those of the leaves.
std::vector<IrValue> evaluate(Function&, const Expression&, const std::function<IrValue(std::size_t)>& leaf);
// offsets and access: of the leaves.
std::vector<IrValue> evaluate(Function&, const Expression&, std::span<const IrValue> offsets, std::span<const Access>);

}  // namespace rml::codegen
