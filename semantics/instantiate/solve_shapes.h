// Shapes and static values, solved together over the draft.
//
// A shape is unknown, or known and growing by broadcasting. A static value is a constant that a
// shape may depend on (`zeros(shape(x))`). Both are propagated from operands to users up to a
// fixed point; only then are errors and unknown shapes reported.
#pragma once

#include <variant>

#include "frontend/diagnostic.h"
#include "semantics/instantiate/draft.h"

namespace rml::draft {

// Tensors with more elements are not evaluated at compile time.
inline constexpr std::int64_t max_static_elements = 65536;

// The states of all values; complete unless errors were reported.
States solve_shapes(const Draft& draft, const Program& program, Diagnostics& diagnostics);

// An error in a value, in the user's words.
struct Problem {
  Code code;
  Span span;
  std::string message;
  std::string label;
  std::vector<Label> secondary;
  std::vector<std::string> notes;
};
// A message for a shape with too many axes or too many elements.
std::string too_large(const Shape& shape);

// An argument that must be a compile-time constant and is not.
struct NotConstant {
  DraftId value;
  std::string what;  // "`shape` of `zeros`"
};
// monostate says that an operand is not known yet.
template <class T>
using Outcome = std::variant<std::monostate, T, Problem, NotConstant>;

// One axis of x[i, a:b:c, …] once the shape of x and the bounds are known.
struct IndexAxis {
  enum Kind : std::uint8_t { range, fixed, dynamic } kind = range;
  std::int64_t begin = 0, count = 0, step = 1;  // for a fixed slice: its begin, count and step
  DraftId at;                                   // the position of a dynamic slice
};

struct IteratorBody;  // instantiate/iteration.h

// The rules that derive states from states. They only read the states.
class ShapeRules {
 public:
  ShapeRules(const Draft& draft, const States& states) : draft_(draft), states_(states) {}
  // The shape of a value that is no join, from the shapes of its operands.
  Outcome<Shape> shape(DraftId d) const;
  // For sum_to: the shape given by its attribute, even if the operand is unknown.
  Outcome<Shape> target(DraftId d) const;
  // The static value of a value with a known shape, or null.
  std::shared_ptr<const Tensor> constant(DraftId d) const;
  Outcome<std::vector<IndexAxis>> index_axes(DraftId d) const;
  Outcome<Shape> extents(const std::vector<DraftId>& list, const std::string& what) const;
  Outcome<std::vector<Attribute>> attributes(const Apply& apply) const;
  // The body of an iteration, or null before its operands are known.
  const IteratorBody* iterated(const Iterate& iterate) const;
  // A label such as "`w` is f32[3, 4]".
  std::string label_of(DraftId d) const;

 private:
  const State& state(DraftId d) const { return states_[d.index]; }
  Outcome<Shape> apply_shape(DraftId d, const Apply& apply) const;
  Outcome<Shape> index_shape(DraftId d) const;
  Outcome<Shape> iterate_shape(DraftId d, const Iterate& iterate) const;
  Outcome<IndexAxis> index_axis(const Item& item, const Shape& shape, std::size_t axis) const;
  Outcome<IndexAxis> range_axis(const Item& item, const Shape& shape, std::size_t axis) const;
  Outcome<std::int64_t> bound(DraftId d, const char* what) const;
  std::shared_ptr<const Tensor> evaluate(DraftId d, const Apply& apply) const;
  std::shared_ptr<const Tensor> evaluate_index(DraftId d, const Index& index) const;

  const Draft& draft_;
  const States& states_;
};

// The tensor, broadcast to a shape.
Tensor broadcast_tensor(const Tensor& tensor, const Shape& shape);

// Reports errors and unknown shapes at the fixed point.
void check_shapes(const Draft& draft, const Program& program, const States& states, Diagnostics& diagnostics);

}  // namespace rml::draft
