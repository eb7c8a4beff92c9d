// Operators that compute or move elements one by one, and the choice of a writer for every row of the operator table.
//
//   slice, transpose, broadcast, …      one nest: store result[i, j] operand[…]
//   concat, array, moves                one nest for each part
//   index, place                        the indices are checked once, in a nest without axes, then one more nest
//   reshape                             a copy
//
// Sums and products are written in write_sums.cc. Operators without nests call a kernel of the runtime.
#include "lowering/loops/write_values.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "lowering/loops/nest_builder.h"
#include "runtime/base/rmlrt.h"
#include "semantics/core/queries.h"
#include "semantics/operators/moves.h"

namespace rml::loops {

namespace {

const Value& info(const Scope& s, ValueId v) { return s.core[v]; }
void write_pointwise(Scope& s, ValueId v, Block& to) {
  const Shape& shape = info(s, v).shape;
  if (elements(shape) == 0) return;
  const IndexMap here = identity_map(shape);
  NestBuilder nest(s, v, shape);
  std::vector<std::uint32_t> operands;
  const core::Apply& a = apply(s, v);
  for (std::size_t k = 0; k < a.operands.size(); ++k)
    operands.push_back(nest.read(a.operands[k], *operand_map(s.core, v, k, here)));
  const std::uint32_t result = nest.apply(v, operands);
  nest.store(nest.at(s.place(v), here), result);
  to.statements.emplace_back(nest.finish());
}

// Writes x into v, where its elements begin at `begin`.
void write_part(Scope& s, ValueId v, ValueId x, std::int64_t begin, const std::vector<std::int64_t>& strides,
                Block& to) {
  const Shape& shape = info(s, x).shape;
  if (elements(shape) == 0) return;
  NestBuilder nest(s, v, shape);
  const std::uint32_t element = nest.read(x, identity_map(shape));
  nest.store(nest.at(s.place(v), begin, strides), element);
  to.statements.emplace_back(nest.finish());
}

void write_concat(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const std::size_t axis = *normalized_axis(a.attributes[0].integers[0], info(s, v).shape.size());
  const std::vector<std::int64_t> strides = dense_strides(info(s, v).shape);
  std::int64_t begin = 0;
  for (const ValueId x : a.operands) {
    write_part(s, v, x, begin * strides[axis], strides, to);
    begin += info(s, x).shape[axis];
  }
}

void write_array(Scope& s, ValueId v, Block& to) {
  std::int64_t begin = 0;
  for (const ValueId x : apply(s, v).operands) {
    write_part(s, v, x, begin, dense_strides(info(s, x).shape), to);
    begin += elements(info(s, x).shape);
  }
}

// A strided copy of elements in memory.
struct Strided {
  std::int64_t start = 0;
  std::vector<std::int64_t> strides;
};
void write_strided(Scope& s, ValueId v, const Shape& shape, BufferId from, const Strided& read, const Strided& written,
                   Block& to) {
  if (elements(shape) == 0) return;
  NestBuilder nest(s, v, shape);
  const std::uint32_t element = nest.load(nest.at(from, read.start, read.strides));
  nest.store(nest.at(s.place(v), written.start, written.strides), element);
  to.statements.emplace_back(nest.finish());
}

void write_zeros(Scope& s, ValueId v, Block& to) { write_filling(s, v, s.place(v), Tensor(info(s, v).dtype, {}), to); }

void write_place_slice(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const BufferId from = in_memory(s, a.operands[0], to);
  const auto ranges = std::get<0>(slice_ranges(info(s, v).shape, std::span(a.attributes).subspan(1)));
  Strided written{0, dense_strides(info(s, v).shape)};
  for (std::size_t k = 0; k < ranges.size(); ++k) {
    written.start += ranges[k].start * written.strides[k];
    written.strides[k] *= ranges[k].step;
  }
  write_zeros(s, v, to);
  const Shape& shape = info(s, a.operands[0]).shape;
  write_strided(s, v, shape, from, {0, dense_strides(shape)}, written, to);
}

void write_moves(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const OperatorInfo& row = operators()[a.op];
  const BufferId from = in_memory(s, a.operands[0], to);
  const std::vector<Move> moves = row.moves(info(s, a.operands[0]).shape, a.attributes);
  std::int64_t written = 0;
  for (const Move& m : moves) written += elements(m.shape);
  if (written < elements(info(s, v).shape))
    write_filling(s, v, s.place(v), Tensor::number(info(s, v).dtype, move_fill(row, a.attributes)), to);
  for (const Move& m : moves) write_strided(s, v, m.shape, from, {m.from, m.from_strides}, {m.to, m.to_strides}, to);
}

// Adds the elements that are moved to the same place, in the order of the moves.
void write_sum_of_moves(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const BufferId from = in_memory(s, a.operands[0], to);
  write_zeros(s, v, to);
  for (const Move& m : operators()[a.op].moves(info(s, v).shape, std::span(a.attributes).subspan(1))) {
    if (elements(m.shape) == 0) continue;
    NestBuilder nest(s, v, m.shape, std::vector<bool>(m.shape.size(), true));
    const std::uint32_t more = nest.load(nest.at(from, m.to, m.to_strides));
    nest.sum(nest.at(s.place(v), m.from, m.from_strides), ScalarOp::add, more);
    to.statements.emplace_back(nest.finish());
  }
}

// ---- indices that are computed

std::vector<std::uint32_t> read_indices(NestBuilder& nest, const std::vector<ValueId>& operands) {
  std::vector<std::uint32_t> indices;
  for (std::size_t k = 1; k < operands.size(); ++k)
    indices.push_back(nest.convert(DType::i64, nest.read_scalar(operands[k])));
  return indices;
}

void check_indices(NestBuilder& nest, ValueId v, const Shape& whole, const std::vector<std::uint32_t>& indices) {
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const std::uint32_t zero = nest.number(DType::i64, 0), extent = nest.number(Tensor::scalar(DType::i64, whole[k]));
    const std::uint32_t below = nest.operation(ScalarOp::lt, {indices[k], zero}),
                        above = nest.operation(ScalarOp::ge, {indices[k], extent});
    nest.check({nest.operation(ScalarOp::logical_or, {below, above}), RML_FAULT_INDEX, nest.scope().site(v), indices[k],
                extent});
  }
}

void add_indices(Access& to, const Shape& whole, const std::vector<std::uint32_t>& indices) {
  const std::vector<std::int64_t> strides = dense_strides(whole);
  for (std::size_t k = 0; k < indices.size(); ++k) to.computed.emplace_back(indices[k], strides[k]);
}

void write_checks(Scope& s, ValueId v, const Shape& whole, Block& to) {
  NestBuilder checks(s, v, {});
  check_indices(checks, v, whole, read_indices(checks, apply(s, v).operands));
  to.statements.emplace_back(checks.finish());
}

void write_index(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const Shape &whole = info(s, a.operands[0]).shape, &shape = info(s, v).shape;
  const BufferId from = in_memory(s, a.operands[0], to);
  if (!shape.empty()) write_checks(s, v, whole, to);
  if (elements(shape) == 0) return;
  NestBuilder nest(s, v, shape);
  const std::vector<std::uint32_t> indices = read_indices(nest, a.operands);
  if (shape.empty()) check_indices(nest, v, whole, indices);
  Access at = nest.at(from, 0, dense_strides(shape));
  add_indices(at, whole, indices);
  const std::uint32_t element = nest.load(std::move(at));
  nest.store(nest.at(s.place(v), 0, dense_strides(shape)), element);
  to.statements.emplace_back(nest.finish());
}

void write_placing(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const Shape &whole = info(s, v).shape, &shape = info(s, a.operands[0]).shape;
  const BufferId from = in_memory(s, a.operands[0], to);
  write_checks(s, v, whole, to);
  write_zeros(s, v, to);
  if (elements(shape) == 0) return;
  NestBuilder nest(s, v, shape);
  const std::vector<std::uint32_t> indices = read_indices(nest, a.operands);
  const std::uint32_t element = nest.load(nest.at(from, 0, dense_strides(shape)));
  Access at = nest.at(s.place(v), 0, dense_strides(shape));
  add_indices(at, whole, indices);
  nest.store(std::move(at), element);
  to.statements.emplace_back(nest.finish());
}

// ---- values that depend on shapes only

void write_iota(Scope& s, ValueId v, Block& to) {
  const Shape& shape = info(s, v).shape;
  if (elements(shape) == 0) return;
  NestBuilder nest(s, v, shape);
  const std::uint32_t element = nest.convert(DType::i32, nest.index(0));
  nest.store(nest.at(s.place(v), identity_map(shape)), element);
  to.statements.emplace_back(nest.finish());
}

void write_one_hot(Scope& s, ValueId v, Block& to) {
  const ValueId x = apply(s, v).operands[0];
  const Value& value = info(s, v);
  if (elements(value.shape) == 0) return;
  NestBuilder nest(s, v, value.shape);
  const std::uint32_t hot = nest.convert(DType::i64, nest.read(x, identity_map(info(s, x).shape))),
                      here = nest.index(value.shape.size() - 1), one = nest.number(value.dtype, 1),
                      zero = nest.number(value.dtype, 0);
  const std::uint32_t is_hot = nest.operation(ScalarOp::eq, {hot, here});
  nest.store(nest.at(s.place(v), identity_map(value.shape)), nest.operation(ScalarOp::select, {is_hot, one, zero}));
  to.statements.emplace_back(nest.finish());
}

void write_copy(Scope& s, ValueId v, Block& to) {
  const BufferId from = in_memory(s, apply(s, v).operands[0], to);
  to.statements.emplace_back(Copy{s.place(v), from});
}

void write_kernel(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const OperatorInfo& row = operators()[a.op];
  for (const Writer writer : {writer_of_places(row.name), writer_of_windows(row.window)})
    if (writer != nullptr) return writer(s, v, to);
  Kernel kernel{std::string(row.kernel), v, s.place(v), {}};
  for (const ValueId x : a.operands) kernel.operands.push_back(in_memory(s, x, to));
  to.statements.emplace_back(std::move(kernel));
}

}  // namespace

void write_filling(Scope& s, ValueId of, BufferId buffer, const Tensor& element, Block& to) {
  const Shape shape = s[buffer].shape;
  if (elements(shape) == 0) return;
  NestBuilder nest(s, of, shape);
  const std::uint32_t number = nest.number(element);
  nest.store(nest.at(buffer, 0, dense_strides(shape)), number);
  to.statements.emplace_back(nest.finish());
}

BufferId in_memory(Scope& s, ValueId x, Block& to) {
  if (s.in_loops(x)) write_pointwise(s, x, to);
  return s.place(x);
}

namespace {

constexpr std::pair<Lowering, Writer> writers[] = {
    {Lowering::elementwise, write_pointwise},
    {Lowering::outer, write_pointwise},
    {Lowering::transpose, write_pointwise},
    {Lowering::slice, write_pointwise},
    {Lowering::broadcast, write_pointwise},
    {Lowering::fill, write_pointwise},
    {Lowering::matmul, write_product},
    {Lowering::dot, write_product},
    {Lowering::reshape, write_copy},
    {Lowering::parameter, write_copy},
    {Lowering::concat, write_concat},
    {Lowering::array, write_array},
    {Lowering::index, write_index},
    {Lowering::reduce_sum, write_reduction},
    {Lowering::reduce_mean, write_reduction},
    {Lowering::reduce_min, write_reduction},
    {Lowering::reduce_max, write_reduction},
    {Lowering::reduce_prod, write_reduction},
    {Lowering::reduce_all, write_reduction},
    {Lowering::reduce_any, write_reduction},
    {Lowering::sum_to, write_reduction},
    {Lowering::argmax, write_place_of_extremum},
    {Lowering::argmin, write_place_of_extremum},
    {Lowering::iota, write_iota},
    {Lowering::one_hot, write_one_hot},
    {Lowering::random, write_kernel},
    {Lowering::kernel, write_kernel},
    {Lowering::place, write_placing},
    {Lowering::place_slice, write_place_slice},
    {Lowering::move, write_moves},
    {Lowering::sum_moves, write_sum_of_moves},
};

}  // namespace

void write_value(Scope& s, ValueId v, Block& to) {
  const OperatorInfo& row = operators()[apply(s, v).op];
  const auto writer = std::ranges::find(writers, row.lowering, &std::pair<Lowering, Writer>::first);
  if (writer == std::end(writers))
    throw std::logic_error("loops: " + std::string(row.name) + " should have been folded");
  writer->second(s, v, to);
}

}  // namespace rml::loops
