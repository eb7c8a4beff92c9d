// Which shapes are plainly the same, before shapes are known: each is described by what broadcasts to it.
//
//   y = w * x + 1.0;  z = matmul(y, y);      of y: {w, x}    of z: {matmul(y, y)}
#pragma once

#include <set>
#include <vector>

#include "semantics/differentiate/facts.h"

namespace rml::derivation {

// Variables, and expressions of which nothing more is known.
using ShapeOf = std::set<std::uint64_t>;

class Shapes {
 public:
  explicit Shapes(const NodeFacts& node);

  const ShapeOf& of_variable(std::uint32_t v);
  ShapeOf of(ExprId e);
  // Shapes that are no other's: that of e alone, and one to which e is broadcast.
  static ShapeOf own(ExprId e) { return {std::uint64_t{1} << 32 | e.index}; }
  static ShapeOf beyond(ExprId e) { return {std::uint64_t{2} << 32 | e.index}; }

 private:
  ShapeOf joined(const std::vector<ExprId>& parts);

  const NodeFacts& node_;
  std::vector<std::optional<ShapeOf>> variables_;  // as they are asked for
};

}  // namespace rml::derivation
