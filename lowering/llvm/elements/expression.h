// Pointwise values as expression trees over tensors in memory.
//
// An inlined operand is computed where it is used, down to tensors that are in memory (the leaves). Slices,
// transpositions and broadcasts on the way become index arithmetic:
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

// The nodes of the tree. Operands precede their users; the root is last.
struct Expression {
  struct Leaf {
    ValueId value;
    Strides strides;  // stride along each axis of the loop
    std::int64_t base = 0;
  };
  struct Node {
    ValueId value;
    IndexMap map;
    std::vector<std::size_t> operands;
    std::size_t leaf = SIZE_MAX;  // index of the leaf; SIZE_MAX: the node is computed from its operands
  };
  std::size_t rank = 0;  // number of axes of the loop
  std::vector<Node> nodes;
  std::vector<Leaf> leaves;
};

// Adds v, seen through the map, to an expression and returns the number of its node. If `root`, v is computed even if
// it is not inlined.
std::size_t gather(const Function&, Expression&, ValueId v, const IndexMap&, bool root);
// The expression of v in a loop over v's shape. All leaves are in memory.
Expression expression(Function&, ValueId v, bool root);

std::vector<Strides> leaf_views(const Expression&);
// True if the elements of the loop, in row-major order, are consecutive elements of the tensor, or all the same
// element.
bool runs_through(const Strides&, const Shape&);
bool is_uniform(const Strides&);
// True if the operator uses the same instructions for vectors of such operands.
bool works_on_vectors(const OperatorInfo&, DType operand);

// The work of one element of a loop that writes the first `written` views. Nothing if an operation can fail, because it
// is observable which one fails first.
Work work(const Function&, const Expression&, std::size_t written);

// Computes the values of all nodes from those of the leaves.
std::vector<IrValue> evaluate(Function&, const Expression&, const std::function<IrValue(std::size_t)>& leaf);
// As above, where `offsets` and `access` belong to the leaves.
std::vector<IrValue> evaluate(Function&, const Expression&, std::span<const IrValue> offsets, std::span<const Access>);

}  // namespace rml::codegen
