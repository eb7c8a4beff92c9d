// Operators that combine elements: reductions, places of extrema, products.
//
// The elements of one result are combined in the order of the loops, which is that of the reference engine: row-major
// for a reduction, increasing inner index for a product. A result begins as the neutral element, which leaves the first
// element unchanged to the bit (-0.0 for sums of floats, an infinity for extrema):
//
//   s = sum(x, 1)      nest i:2 { store s[i] -0 }      nest i:2 j:3 { t0 = load x[3*i + j]  sum s[i] add t0 }
#include <limits>

#include "lowering/loops/nest_builder.h"
#include "lowering/loops/write_values.h"
#include "semantics/core/queries.h"
#include "semantics/operators/scalar.h"

namespace rml::loops {

namespace {

Lowering form_of(const core::Apply& a) {
  const Lowering l = operators()[a.op].lowering;
  return l == Lowering::sum_to ? Lowering::reduce_sum : l;
}

// The largest or the smallest number of the dtype.
Tensor limit(DType dtype, bool largest) {
  if (is_float(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return Tensor::number(dtype, largest ? infinity : -infinity);
  }
  Tensor t(dtype, {});
  auto* bytes = static_cast<unsigned char*>(t.data());
  const std::size_t size = byte_size(dtype);
  for (std::size_t k = 0; k < size; ++k) bytes[k] = largest ? 0xff : 0;
  // The last byte is the highest one, because numbers are little-endian.
  if (is_signed(dtype)) bytes[size - 1] = largest ? 0x7f : 0x80;
  return t;
}

}  // namespace

Tensor least(DType dtype) { return limit(dtype, false); }

namespace {

Tensor neutral(Lowering l, DType dtype) {
  if (l == Lowering::reduce_min || l == Lowering::reduce_max) return limit(dtype, l == Lowering::reduce_min);
  if (l == Lowering::reduce_all) return Tensor::boolean(true);
  if (l == Lowering::reduce_any) return Tensor::boolean(false);
  if (l == Lowering::reduce_prod) return Tensor::number(dtype, 1);
  return Tensor::number(dtype, is_float(dtype) ? -0.0 : 0.0);
}

ScalarOp operation_of(Lowering l) {
  if (l == Lowering::reduce_prod) return ScalarOp::mul;
  if (l == Lowering::reduce_all) return ScalarOp::logical_and;
  return l == Lowering::reduce_any ? ScalarOp::logical_or : ScalarOp::add;
}

// The strides by which an element of the operand reaches its result.
std::vector<std::int64_t> reduced_strides(const core::Apply& a, const Shape& x, const Shape& result) {
  if (operators()[a.op].lowering == Lowering::sum_to) return broadcast_strides(result, x);
  const std::vector<bool> reduced = *reduced_axes(a.attributes[0], x.size());
  std::vector<std::int64_t> to(x.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t k = x.size(); k-- > 0;) {
    if (reduced[k]) continue;
    to[k] = stride;
    stride *= x[k];
  }
  return to;
}

void write_mean(Scope& s, ValueId v, std::int64_t count, Block& to) {
  const Shape& shape = s.core[v].shape;
  NestBuilder nest(s, v, shape);
  const Access at = nest.at(s.place(v), 0, dense_strides(shape));
  const std::uint32_t sum = nest.load(at), divisor = nest.number(s.core[v].dtype, static_cast<double>(count));
  nest.store(at, nest.operation(ScalarOp::div, {sum, divisor}));
  to.statements.emplace_back(nest.finish());
}

std::uint32_t extremum(NestBuilder& nest, bool maximum, std::uint32_t a, std::uint32_t b) {
  static const OperatorId of[] = {operators().require("minimum"), operators().require("maximum")};
  return nest.spell(of[maximum ? 1 : 0], {a, b});
}

}  // namespace

void write_reduction(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = *apply_of(s.core, v);
  const Lowering form = form_of(a);
  const ValueId x = a.operands[0];
  const Shape &shape = s.core[x].shape, &result = s.core[v].shape;
  const DType dtype = s.core[v].dtype;
  if (elements(result) == 0) return;
  const std::int64_t count = elements(shape) / elements(result);
  const bool adds = form == Lowering::reduce_sum || form == Lowering::reduce_mean;
  write_filling(s, v, s.place(v), count == 0 && adds ? Tensor(dtype, {}) : neutral(form, dtype), to);
  if (count > 0) {
    const std::vector<std::int64_t> strides = reduced_strides(a, shape, result);
    std::vector<bool> sums;
    for (const std::int64_t stride : strides) sums.push_back(stride == 0);
    NestBuilder nest(s, v, shape, sums);
    const std::uint32_t element = nest.read(x, identity_map(shape));
    const Access onto = nest.at(s.place(v), 0, strides);
    if (form == Lowering::reduce_min || form == Lowering::reduce_max) {
      const std::uint32_t so_far = nest.load(onto);
      nest.store(onto, extremum(nest, form == Lowering::reduce_max, so_far, element));
    } else {
      nest.sum(onto, operation_of(form), element);
    }
    to.statements.emplace_back(nest.finish());
  }
  if (form == Lowering::reduce_mean) write_mean(s, v, count, to);
}

// The first extremum or, with `last`, the last one; a NaN counts as an extremum. The operand is viewed as [before,
// searched, after].
void write_place_of_extremum(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = *apply_of(s.core, v);
  const bool maximum = operators()[a.op].lowering == Lowering::argmax;
  const Shape& shape = s.core[a.operands[0]].shape;
  if (elements(s.core[v].shape) == 0) return;
  std::int64_t searched = elements(shape), after = 1;
  if (a.attributes[0].given) {
    const std::size_t axis = *normalized_axis(a.attributes[0].integers[0], shape.size());
    searched = shape[axis];
    for (std::size_t k = axis + 1; k < shape.size(); ++k) after *= shape[k];
  }
  const std::int64_t before = elements(s.core[v].shape) / after;
  const bool last = a.attributes[2].integers[0] != 0;
  const BufferId x = in_memory(s, a.operands[0], to), best = s.place(v),
                 extreme = s.scratch(s.core[a.operands[0]].dtype, {before, after});
  NestBuilder first(s, v, {before, after});
  first.store(first.at(best, 0, {after, 1}), first.number(DType::i32, 0));
  const std::uint32_t begin = first.load(first.at(x, 0, {searched * after, 1}));
  first.store(first.at(extreme, 0, {after, 1}), begin);
  to.statements.emplace_back(first.finish());
  if (searched == 1) return;

  NestBuilder nest(s, v, {before, after, searched - 1}, {false, false, true});
  const std::uint32_t candidate = nest.load(nest.at(x, after, {searched * after, 1, after})),
                      so_far = nest.load(nest.at(extreme, 0, {after, 1, 0})),
                      place = nest.load(nest.at(best, 0, {after, 1, 0}));
  const ScalarOp strictly = maximum ? ScalarOp::gt : ScalarOp::lt, weakly = maximum ? ScalarOp::ge : ScalarOp::le;
  std::uint32_t wins = nest.operation(last ? weakly : strictly, {candidate, so_far});
  if (is_float(nest.dtype(candidate))) {  // NaN needs a test of its own, because it is unordered with every number
    wins = nest.operation(ScalarOp::logical_or, {wins, nest.is_nan(candidate)});
    if (!last) {
      const std::uint32_t found = nest.is_nan(so_far);
      wins = nest.operation(ScalarOp::logical_and, {wins, nest.operation(ScalarOp::logical_not, {found})});
    }
  }
  const std::uint32_t here = nest.operation(ScalarOp::add, {nest.index(2), nest.number(DType::i64, 1)});
  const std::uint32_t new_place = nest.operation(ScalarOp::select, {wins, nest.convert(DType::i32, here), place}),
                      new_extreme = nest.operation(ScalarOp::select, {wins, candidate, so_far});
  nest.store(nest.at(best, 0, {after, 1, 0}), new_place);
  nest.store(nest.at(extreme, 0, {after, 1, 0}), new_extreme);
  to.statements.emplace_back(nest.finish());
}

namespace {

// True if the elements of v are elements of a value in memory.
bool only_moves(const Scope& s, ValueId v) {
  if (!s.in_loops(v)) return true;
  return is_view(s.core, v) && only_moves(s, apply_of(s.core, v)->operands[0]);
}

// An element of an operand; `loops` gives the loop of each of its axes.
std::uint32_t factor(NestBuilder& nest, Scope& s, ValueId x, const std::vector<std::size_t>& loops) {
  IndexMap map;
  const Shape& shape = s.core[x].shape;
  for (std::size_t k = 0; k < shape.size(); ++k) map.push_back(shape[k] == 1 ? AxisMap{} : AxisMap{loops[k], 0, 1});
  return only_moves(s, x) ? nest.read(x, map) : nest.load(nest.at(s.place(x), map));
}

}  // namespace

// C[…, m, n] = sum over k of A[…, m, k] B[…, k, n], where vectors have no m or n.
void write_product(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = *apply_of(s.core, v);
  const ValueId x = a.operands[0], y = a.operands[1];
  const Shape &left = s.core[x].shape, &right = s.core[y].shape, &shape = s.core[v].shape;
  const DType dtype = s.core[v].dtype;
  if (elements(shape) == 0) return;
  const std::int64_t inner = left.back();
  write_filling(s, v, s.place(v), inner == 0 ? Tensor(dtype, {}) : neutral(Lowering::reduce_sum, dtype), to);
  if (inner == 0) return;
  for (const ValueId o : {x, y})
    if (!only_moves(s, o)) in_memory(s, o, to);
  Shape loops = shape;
  loops.push_back(inner);
  const std::size_t k = shape.size(), rows = left.size() > 1 ? 1 : 0, columns = right.size() > 1 ? 1 : 0,
                    batch = shape.size() - rows - columns;
  std::vector<bool> sums(loops.size(), false);
  sums[k] = true;
  NestBuilder nest(s, v, loops, sums);
  std::vector<std::size_t> of_left, of_right;
  for (std::size_t axis = 0; axis + 2 < left.size(); ++axis) of_left.push_back(batch + 2 + axis - left.size());
  for (std::size_t axis = 0; axis + 2 < right.size(); ++axis) of_right.push_back(batch + 2 + axis - right.size());
  if (rows > 0) of_left.push_back(batch);
  of_left.push_back(k);
  of_right.push_back(k);
  if (columns > 0) of_right.push_back(batch + rows);
  const std::uint32_t l = factor(nest, s, x, of_left), r = factor(nest, s, y, of_right);
  std::vector<std::int64_t> strides = dense_strides(shape);
  strides.push_back(0);
  nest.sum(nest.at(s.place(v), 0, strides), ScalarOp::add, nest.operation(ScalarOp::mul, {l, r}));
  to.statements.emplace_back(nest.finish());
}

}  // namespace rml::loops
