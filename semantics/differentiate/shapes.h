// Proves shapes equal before shapes are known: each shape is described by the set of shapes that
// broadcast to it.
//
//   y = w * x + 1.0;  z = matmul(y, y);      shape of y: {w, x}    shape of z: {matmul(y, y)}
#pragma once

#include <set>
#include <vector>

#include "semantics/differentiate/facts.h"

namespace rml::derivation {

// A shape, as the variables and expressions of unknown shape from which it is broadcast.
using ShapeOf = std::set<std::uint64_t>;

class Shapes {
 public:
  explicit Shapes(const NodeFacts& node);

  const ShapeOf& of_variable(std::uint32_t v);
  ShapeOf of(ExprId e);
  // Unique shapes: own is the unknown shape of e, beyond an unknown shape to which e is
  // broadcast.
  static ShapeOf own(ExprId e) { return {std::uint64_t{1} << 32 | e.index}; }
  static ShapeOf beyond(ExprId e) { return {std::uint64_t{2} << 32 | e.index}; }

 private:
  ShapeOf joined(const std::vector<ExprId>& parts);

  const NodeFacts& node_;
  std::vector<std::optional<ShapeOf>> variables_;  // shapes of the variables, computed at their first use
};

}  // namespace rml::derivation
