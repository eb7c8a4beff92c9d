// Simpler right-hand sides with bit-identical results (part of simplify).
//
//   merge c F T                                  logical_not c
//   transpose %1 {axes=[1, 0]}, one row          reshape %1
//   reshape (reshape %1)                         reshape %1
//   transpose (transpose %1)                     transpose %1, or %1
//   add %1 (reshape %2 {shape=[1, n]})           add %1 %2      (broadcasting adds the axis)
//   matmul %1 %2, a column by a row              mul %1 %2      (the gradient of a product with a vector)
//   add (place %1 at 0) (place %2 at 1)          array %1 %2    (the gradient of unpacking an array)
//   add (place_slice %1) (place_slice %2)        concat %1 %2   (of slicing; the sign of zeros may differ)
#include <algorithm>

#include "semantics/core/attributes.h"
#include "semantics/core/queries.h"
#include "semantics/simplify/passes.h"

namespace rml {

namespace {

// The extents other than 1, in order: only these matter for a transposition.
Shape without_ones(const Shape& shape) {
  Shape kept;
  for (const std::int64_t extent : shape)
    if (extent != 1) kept.push_back(extent);
  return kept;
}

// A tensor that is zero except for `part`, which begins at `begin` along `axis`.
struct Piece {
  std::size_t axis = 0;
  std::int64_t begin = 0, extent = 0;
  ValueId part;
};

std::optional<Piece> piece(const Core& core, ValueId v) {
  if (const auto* a = apply_of(core, v, Lowering::place)) {
    if (a->operands.size() != 2 || !core.is_const(a->operands[1])) return std::nullopt;
    const Tensor& at = std::get<core::Const>(core[a->operands[1]].rhs).value;
    const std::int64_t index = at.integers()[0];
    if (index < 0 || index >= core[v].shape[0]) return std::nullopt;
    return Piece{0, index, 1, a->operands[0]};
  }
  const auto* a = apply_of(core, v, Lowering::place_slice);
  if (a == nullptr) return std::nullopt;
  const Shape& whole = core[v].shape;
  const auto ranges = std::get<0>(slice_ranges(whole, std::span(a->attributes).subspan(1)));
  std::optional<Piece> found;
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    if (ranges[axis].start == 0 && ranges[axis].count == whole[axis] && ranges[axis].step == 1) continue;
    if (found || ranges[axis].step != 1) return std::nullopt;
    found = Piece{axis, ranges[axis].start, ranges[axis].count, a->operands[0]};
  }
  return found;
}

// The pieces of a sum, if it consists of few pieces and nothing else. The limit bounds the work
// on long chains of sums, and ends the recursion for a sum of itself on a clock that never ticks.
bool find_pieces(const Core& core, ValueId v, std::size_t& additions, std::vector<Piece>& pieces) {
  if (const auto* a = apply_of(core, v, Lowering::elementwise);
      a != nullptr && operators()[a->op].scalar == ScalarOp::add && core[a->operands[0]].shape == core[v].shape &&
      core[a->operands[1]].shape == core[v].shape) {
    if (additions == 0) return false;
    --additions;
    return find_pieces(core, a->operands[0], additions, pieces) && find_pieces(core, a->operands[1], additions, pieces);
  }
  const auto one = piece(core, v);
  if (one) pieces.push_back(*one);
  return one.has_value();
}

// The concatenation of the pieces of a sum, if together they fill the whole tensor.
std::optional<core::Rhs> assembled(const Core& core, ValueId v) {
  std::size_t additions = 64;
  std::vector<Piece> pieces;
  if (core[v].shape.empty() || !find_pieces(core, v, additions, pieces) || pieces.size() < 2) return std::nullopt;
  std::ranges::sort(pieces, {}, &Piece::begin);
  const std::size_t axis = pieces[0].axis;
  const bool places = core[pieces[0].part].shape.size() < core[v].shape.size();
  std::int64_t filled = 0;
  std::vector<ValueId> parts;
  for (const Piece& p : pieces) {
    if (p.axis != axis || p.begin != filled || places != (core[p.part].shape.size() < core[v].shape.size()))
      return std::nullopt;
    filled += p.extent;
    parts.push_back(p.part);
  }
  if (filled != core[v].shape[axis]) return std::nullopt;
  if (places) return core::Apply{operators().require("array"), parts, {}, 0};
  Attribute along;
  along.given = along.scalar = true;
  along.integers = {static_cast<std::int64_t>(axis)};
  return core::Apply{operators().require("concat"), parts, {along}, 0};
}

}  // namespace

// The operator on operands without leading axes of extent 1, if other operands have these axes.
std::optional<core::Rhs> without_added_axes(const Core& core, ValueId v, const core::Apply& a) {
  core::Apply without = a;
  Shape shape;
  for (ValueId& o : without.operands) {
    const auto* r = apply_of(core, o, Lowering::reshape);
    const Shape& own = core[o].shape;
    const Shape& inner = r == nullptr ? own : core[r->operands[0]].shape;
    const bool added = inner.size() < own.size() && std::equal(inner.rbegin(), inner.rend(), own.rbegin()) &&
                       std::all_of(
                           own.begin(), own.end() - static_cast<std::ptrdiff_t>(inner.size()),
                           [](std::int64_t extent) { return extent == 1; });
    if (added) o = r->operands[0];
    const auto joined = rml::broadcast(shape, core[o].shape);
    if (!joined) return std::nullopt;
    shape = *joined;
  }
  if (without.operands == a.operands || shape != core[v].shape) return std::nullopt;
  return without;
}

core::Rhs reshaped(ValueId operand, const Shape& shape) {
  return core::Apply{operators().require("reshape"), {operand}, {integers_attribute(shape)}, 0};
}

std::optional<Transposed> transposed_twice(const Core& core, ValueId v) {
  const auto axes_of = [&](ValueId t, const core::Apply& a) {
    const std::vector<Shape> shapes = {core[a.operands[0]].shape};
    return transposed_axes(Application{{}, shapes, a.attributes, core[t].dtype});
  };
  const auto* outer = apply_of(core, v, Lowering::transpose);
  const auto* inner = outer == nullptr ? nullptr : apply_of(core, outer->operands[0], Lowering::transpose);
  if (inner == nullptr) return std::nullopt;
  Transposed found{inner->operands[0], {}};
  const std::vector<std::size_t> first = axes_of(outer->operands[0], *inner);
  for (const std::size_t axis : axes_of(v, *outer)) found.axes.push_back(first[axis]);
  return found;
}

std::optional<core::Rhs> simpler(const Core& core, ValueId v) {
  const Value& value = core[v];
  if (const auto* merge = std::get_if<core::Merge>(&value.rhs)) {
    if (constant_truth(core, merge->on_true) != false || constant_truth(core, merge->on_false) != true)
      return std::nullopt;
    return core::Apply{operators().require("logical_not"), {merge->condition}, {}, 0};
  }
  if (const auto* a = apply_of(core, v, Lowering::transpose)) {
    // At most one extent is not 1, so the order of elements does not change.
    if (without_ones(value.shape).size() <= 1) return reshaped(a->operands[0], value.shape);
    if (const auto twice = transposed_twice(core, v); twice && !std::ranges::is_sorted(twice->axes)) {
      core::Apply once = *a;
      once.operands = {twice->operand};
      once.attributes[0].given = true;
      once.attributes[0].scalar = false;
      once.attributes[0].integers.assign(twice->axes.begin(), twice->axes.end());
      once.attributes[1].integers = {0};
      return once;
    }
  } else if (const auto* b = apply_of(core, v, Lowering::reshape)) {
    if (const auto* inner = apply_of(core, b->operands[0], Lowering::reshape))
      return reshaped(inner->operands[0], value.shape);
  } else if (const auto* c = apply_of(core, v, Lowering::matmul)) {
    const Shape &x = core[c->operands[0]].shape, &y = core[c->operands[1]].shape;
    if (x.size() == 2 && y.size() == 2 && x[1] == 1)
      return core::Apply{operators().require("mul"), {c->operands[0], c->operands[1]}, {}, 0};
  } else if (const auto* d = apply_of(core, v, Lowering::elementwise)) {
    if (auto without = without_added_axes(core, v, *d)) return without;
    if (operators()[d->op].scalar == ScalarOp::add) return assembled(core, v);
  }
  return std::nullopt;
}

}  // namespace rml
