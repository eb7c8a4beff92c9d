// Computes index arithmetic of pointwise operators, with one rule per form.
#include "lowering/steps/index_map.h"

#include "semantics/core/queries.h"

namespace rml {

namespace {

// True if the extents other than 1 are the same, in the same order.
bool only_unit_axes_differ(const Shape& a, const Shape& b) {
  Shape x, y;
  for (const std::int64_t e : a)
    if (e != 1) x.push_back(e);
  for (const std::int64_t e : b)
    if (e != 1) y.push_back(e);
  return x == y;
}

IndexMap through_unit_axes(const Shape& from, const Shape& to, const IndexMap& map) {
  IndexMap result(from.size());
  std::size_t at = 0;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] == 1) continue;
    while (to[at] == 1) ++at;
    result[axis] = map[at++];
  }
  return result;
}

IndexMap through_broadcast(const Shape& from, const Shape& to, const IndexMap& map) {
  IndexMap result(from.size());
  for (std::size_t k = 1; k <= from.size(); ++k)
    if (from[from.size() - k] != 1) result[from.size() - k] = map[to.size() - k];
  return result;
}

}  // namespace

IndexMap identity_map(const Shape& shape) {
  IndexMap map(shape.size());
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != 1) map[axis] = {axis, 0, 1};
  return map;
}

bool is_view(const Core& core, ValueId v) {
  const auto* a = apply_of(core, v);
  if (a == nullptr || can_fail(core, v)) return false;
  switch (operators()[a->op].lowering) {
    case Lowering::transpose:
    case Lowering::slice:
    case Lowering::broadcast:
    case Lowering::fill:
      return true;
    case Lowering::reshape:
      return only_unit_axes_differ(core[a->operands[0]].shape, core[v].shape);
    default:
      return false;
  }
}

bool is_pointwise(const Core& core, ValueId v) {
  if (is_view(core, v)) return true;
  const auto* a = apply_of(core, v);
  if (a == nullptr) return false;
  const Lowering lowering = operators()[a->op].lowering;
  return lowering == Lowering::elementwise || lowering == Lowering::outer;
}

bool is_part(const Core& core, ValueId v) {
  const auto* a = apply_of(core, v);
  if (a == nullptr) return false;
  const Lowering lowering = operators()[a->op].lowering;
  return lowering == Lowering::reshape || lowering == Lowering::index || lowering == Lowering::parameter;
}

bool reads_once(const Core& core, ValueId v, std::size_t operand) {
  const auto* a = apply_of(core, v);
  if (!is_pointwise(core, v)) return false;
  const Lowering lowering = operators()[a->op].lowering;
  if (lowering == Lowering::transpose || lowering == Lowering::slice || lowering == Lowering::reshape) return true;
  return *element_count(core[a->operands[operand]].shape) == *element_count(core[v].shape);
}

std::optional<IndexMap> operand_map(const Core& core, ValueId v, std::size_t operand, const IndexMap& map) {
  const auto* a = apply_of(core, v);
  if (!is_pointwise(core, v)) return std::nullopt;
  const Shape &from = core[a->operands[operand]].shape, &to = core[v].shape;
  const std::vector<Shape> shapes = {from};
  switch (operators()[a->op].lowering) {
    case Lowering::outer:
      return IndexMap{map[operand]};
    case Lowering::transpose: {
      const std::vector<std::size_t> order = transposed_axes(Application{{}, shapes, a->attributes, core[v].dtype});
      IndexMap result(from.size());
      for (std::size_t k = 0; k < order.size(); ++k) result[order[k]] = map[k];
      return result;
    }
    case Lowering::slice: {
      const auto ranges = std::get<0>(slice_ranges(from, a->attributes));
      IndexMap result(from.size());
      for (std::size_t k = 0; k < from.size(); ++k)
        result[k] = {map[k].loop, ranges[k].start + ranges[k].step * map[k].start, ranges[k].step * map[k].step};
      return result;
    }
    case Lowering::reshape:
      return through_unit_axes(from, to, map);
    default:
      return through_broadcast(from, to, map);
  }
}

}  // namespace rml
