// Operators with places that are computed at run time: gathers, scatters, slices; and running sums along an axis.
//
// They follow the kernels of the runtime (runtime/kernels/gather.cc, ordering.cc), including the order. A negative
// index counts from the end. Each round that uses an index checks it:
//
//   y = take(x, i)     nest i:2 j:3 { t = load i[j]  at = t < 0 ? t + extent : t  check at  y[…] = x[… + at] }
//
// Scatters run in the order of the loops, because places may coincide.
#include <algorithm>
#include <utility>

#include "lowering/loops/nest_builder.h"
#include "lowering/loops/write_values.h"
#include "runtime/base/rmlrt.h"
#include "semantics/core/queries.h"
#include "semantics/operators/operator.h"

namespace rml::loops {

namespace {

// Checks 0 <= index < extent; otherwise the run stops with a message that shows `written`.
void check_below(NestBuilder& nest, ValueId v, std::uint32_t index, std::uint32_t written, std::int64_t extent) {
  const std::uint32_t zero = nest.number(DType::i64, 0), bound = nest.number(Tensor::scalar(DType::i64, extent));
  const std::uint32_t below = nest.operation(ScalarOp::lt, {index, zero}),
                      above = nest.operation(ScalarOp::ge, {index, bound});
  nest.check(
      {nest.operation(ScalarOp::logical_or, {below, above}), RML_FAULT_INDEX, nest.scope().site(v), written, bound});
}

// Loads an index, counts it from 0 and checks it.
std::uint32_t read_index(NestBuilder& nest, ValueId v, Access from, std::int64_t extent) {
  const std::uint32_t written = nest.convert(DType::i64, nest.load(std::move(from)));
  const std::uint32_t negative = nest.operation(ScalarOp::lt, {written, nest.number(DType::i64, 0)});
  const std::uint32_t from_end =
      nest.operation(ScalarOp::add, {written, nest.number(Tensor::scalar(DType::i64, extent))});
  const std::uint32_t index = nest.operation(ScalarOp::select, {negative, from_end, written});
  check_below(nest, v, index, written, extent);
  return index;
}

// Places given by tensors of indices: loops over the shape of the gathered or scattered elements and, for each index,
// its place in the tensor of indices and its axis in `whole`.
struct Places {
  Shape loops;
  struct Index {
    std::int64_t start = 0;
    Strides strides;      // strides of the tensor of indices
    std::int64_t extent;  // extent of the indexed axis in `whole`
    std::int64_t step;    // distance of neighbouring elements along the axis
  };
  std::vector<Index> indices;
  Strides whole;          // strides of the other axes in `whole`
  std::size_t block = 0;  // number of last loops that run over the elements sharing an index
};

Places take_places(const Shape& whole, const Shape& indices, const Attribute& axis) {
  const auto [before, extent, after] = AxisLines(whole, axis);
  return {{before, elements(indices), after}, {{0, {0, 1, 0}, extent, after}}, {extent * after, 0, 1}, 1};
}

// One index per element, along one axis; indices of extent 1 are repeated.
Places element_places(const Shape& whole, const Shape& indices, const Shape& result, const Attribute& axis) {
  const std::size_t along = *normalized_axis(axis.integers[0], whole.size());
  Strides strides = dense_strides(whole);
  const std::int64_t step = std::exchange(strides[along], 0);
  return {result, {{0, broadcast_strides(indices, result), whole[along], step}}, strides, 0};
}

// Tuples of indices on the last axis, after batch dimensions that both tensors have.
Places tuple_places(const Shape& whole, const Shape& indices, const Attribute& batch_dims) {
  const auto batches = static_cast<std::size_t>(batch_dims.integers[0]);
  const auto length = static_cast<std::size_t>(indices.back());
  const Strides steps = dense_strides(whole);
  Places p;
  p.loops.assign(indices.begin(), indices.end() - 1);
  Strides tuple = dense_strides(indices);
  tuple.pop_back();
  for (std::size_t k = 0; k < p.loops.size(); ++k) p.whole.push_back(k < batches ? steps[k] : 0);
  for (std::size_t k = batches + length; k < whole.size(); ++k) {
    p.loops.push_back(whole[k]);
    tuple.push_back(0);
    p.whole.push_back(steps[k]);
    ++p.block;
  }
  for (std::size_t k = 0; k < length; ++k)
    p.indices.push_back({static_cast<std::int64_t>(k), tuple, whole[batches + k], steps[batches + k]});
  return p;
}

Access place(NestBuilder& nest, ValueId v, const Places& p, BufferId whole, BufferId indices) {
  std::vector<std::pair<std::uint32_t, std::int64_t>> computed;
  for (const Places::Index& i : p.indices)
    computed.emplace_back(read_index(nest, v, nest.at(indices, i.start, i.strides), i.extent), i.step);
  Access at = nest.at(whole, 0, p.whole);
  at.computed = std::move(computed);
  return at;
}

// If no elements are gathered, the indices are checked all the same, wherever there is a round for them.
void check_only(Scope& s, ValueId v, const Places& p, BufferId indices, Block& to) {
  Shape loops = p.loops;
  std::fill(loops.end() - static_cast<std::ptrdiff_t>(p.block), loops.end(), 1);
  if (elements(loops) == 0 || p.indices.empty()) return;
  NestBuilder nest(s, v, loops);
  for (const Places::Index& i : p.indices) read_index(nest, v, nest.at(indices, i.start, i.strides), i.extent);
  to.statements.emplace_back(nest.finish());
}

void gather(Scope& s, ValueId v, const Places& p, Block& to) {
  const core::Apply& a = apply(s, v);
  const BufferId x = in_memory(s, a.operands[0], to), indices = in_memory(s, a.operands[1], to);
  if (elements(p.loops) == 0) return check_only(s, v, p, indices, to);
  NestBuilder nest(s, v, p.loops);
  const std::uint32_t element = nest.load(place(nest, v, p, x, indices));
  nest.store(nest.at(s.place(v), 0, dense_strides(p.loops)), element);
  to.statements.emplace_back(nest.finish());
}

// Scatters into v, which already holds the original elements. `reduction` is the attribute of that name.
void scatter(Scope& s, ValueId v, const Places& p, ValueId updates, ValueId index, const std::string& reduction,
             Block& to) {
  const BufferId from = in_memory(s, updates, to), indices = in_memory(s, index, to);
  if (elements(p.loops) == 0) return check_only(s, v, p, indices, to);
  NestBuilder nest(s, v, p.loops, std::vector<bool>(p.loops.size(), true));
  const Access at = place(nest, v, p, s.place(v), indices);
  const std::uint32_t update = nest.load(nest.at(from, 0, dense_strides(p.loops)));
  if (reduction == "add" || reduction == "mul") {
    nest.sum(at, reduction == "add" ? ScalarOp::add : ScalarOp::mul, update);
  } else if (reduction == "none") {
    nest.store(at, update);
  } else {
    const std::uint32_t so_far = nest.load(at);
    nest.store(at, nest.spell(operators().require(reduction == "min" ? "minimum" : "maximum"), {so_far, update}));
  }
  to.statements.emplace_back(nest.finish());
}

void start_from(Scope& s, ValueId v, ValueId x, Block& to) {
  const BufferId from = in_memory(s, x, to);
  to.statements.emplace_back(Copy{s.place(v), from});
}

void write_take(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  gather(s, v, take_places(shape_of(s, a.operands[0]), shape_of(s, a.operands[1]), a.attributes[0]), to);
}
void write_gather_elements(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  gather(s, v, element_places(shape_of(s, a.operands[0]), shape_of(s, a.operands[1]), shape_of(s, v), a.attributes[0]),
         to);
}
void write_gather_nd(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  gather(s, v, tuple_places(shape_of(s, a.operands[0]), shape_of(s, a.operands[1]), a.attributes[0]), to);
}
void write_sum_take(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  write_filling(s, v, s.place(v), Tensor(s.core[v].dtype, {}), to);
  scatter(s, v, take_places(shape_of(s, v), shape_of(s, a.operands[1]), a.attributes[1]), a.operands[0], a.operands[1],
          "add", to);
}
void write_add_at(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const Places p = take_places(shape_of(s, v), shape_of(s, a.operands[2]), a.attributes[0]);
  start_from(s, v, a.operands[0], to);
  const bool from_end = a.attributes[1].integers[0] != 0;
  if (!from_end && elements(shape_of(s, a.operands[2])) > 0) {  // no index is negative, so none is counted from the end
    NestBuilder nest(s, v, {elements(shape_of(s, a.operands[2]))});
    const std::uint32_t index = nest.convert(DType::i64, nest.load(nest.at(in_memory(s, a.operands[2], to), 0, {1})));
    const std::uint32_t negative = nest.operation(ScalarOp::lt, {index, nest.number(DType::i64, 0)});
    nest.check(
        {negative, RML_FAULT_INDEX, s.site(v), index, nest.number(Tensor::scalar(DType::i64, p.indices[0].extent))});
    to.statements.emplace_back(nest.finish());
  }
  scatter(s, v, p, a.operands[1], a.operands[2], "add", to);
}
void write_scatter_elements(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const Shape& indices = shape_of(s, a.operands[1]);
  start_from(s, v, a.operands[0], to);
  scatter(s, v, element_places(shape_of(s, v), indices, indices, a.attributes[0]), a.operands[2], a.operands[1],
          a.attributes[1].text, to);
}
void write_scatter_nd(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  start_from(s, v, a.operands[0], to);
  scatter(s, v, tuple_places(shape_of(s, v), shape_of(s, a.operands[1]), a.attributes[0]), a.operands[2], a.operands[1],
          a.attributes[1].text, to);
}

// ---- slices with a start that is computed at run time

std::uint32_t read_start(NestBuilder& nest, BufferId starts, std::size_t k) {
  return nest.convert(DType::i64, nest.load(nest.at(starts, static_cast<std::int64_t>(k), Strides(8, 0))));
}

void write_dynamic_part(Scope& s, ValueId v, const Shape& whole, const Shape& part, ValueId starts, BufferId from,
                        bool into, Block& to) {
  const BufferId begin = in_memory(s, starts, to);
  const auto count = static_cast<std::size_t>(shape_of(s, starts)[0]);
  NestBuilder checks(s, v, {});
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint32_t at = read_start(checks, begin, k);
    check_below(checks, v, at, at, whole[k] - part[k] + 1);
  }
  to.statements.emplace_back(checks.finish());
  if (elements(part) == 0) return;
  NestBuilder nest(s, v, part);
  const Strides strides = dense_strides(whole);
  Access there = nest.at(into ? s.place(v) : from, 0, strides),
         here = nest.at(into ? from : s.place(v), 0, dense_strides(part));
  for (std::size_t k = 0; k < count; ++k) there.computed.emplace_back(read_start(nest, begin, k), strides[k]);
  const std::uint32_t element = nest.load(into ? here : there);
  nest.store(into ? there : here, element);
  to.statements.emplace_back(nest.finish());
}

void write_dynamic_slice(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const BufferId x = in_memory(s, a.operands[0], to);
  write_dynamic_part(s, v, shape_of(s, a.operands[0]), shape_of(s, v), a.operands[1], x, false, to);
}
void write_dynamic_update_slice(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  start_from(s, v, a.operands[0], to);
  const BufferId updates = in_memory(s, a.operands[1], to);
  write_dynamic_part(s, v, shape_of(s, v), shape_of(s, a.operands[1]), a.operands[2], updates, true, to);
}

// ---- running sums and products, with the current sum in a buffer of its own

void write_running(Scope& s, ValueId v, ScalarOp op, Block& to) {
  const core::Apply& a = apply(s, v);
  const Shape& shape = shape_of(s, v);
  if (elements(shape) == 0) return;
  const BufferId x = in_memory(s, a.operands[0], to);
  const auto [before, extent, after] = AxisLines(shape_of(s, a.operands[0]), a.attributes[0]);
  const bool exclusive = a.attributes[1].integers[0] != 0, reverse = a.attributes[2].integers[0] != 0;
  const std::int64_t begin = reverse ? (extent - 1) * after : 0, step = reverse ? -after : after;
  const BufferId so_far = s.scratch(s.core[v].dtype, {before, after});
  NestBuilder first(s, v, {before, after});
  const std::uint32_t element = first.load(first.at(x, begin, {extent * after, 1}));
  first.store(first.at(so_far, 0, {after, 1}), element);
  const std::uint32_t start = exclusive ? first.number(s.core[v].dtype, op == ScalarOp::mul ? 1 : 0) : element;
  first.store(first.at(s.place(v), begin, {extent * after, 1}), start);
  to.statements.emplace_back(first.finish());
  if (extent == 1) return;

  NestBuilder nest(s, v, {before, after, extent - 1}, {false, false, true});
  const Strides line = {extent * after, 1, step};
  const std::uint32_t sum = nest.load(nest.at(so_far, 0, {after, 1, 0})),
                      more = nest.load(nest.at(x, begin + step, line));
  const std::uint32_t next = nest.operation(op, {sum, more});
  nest.store(nest.at(s.place(v), begin + step, line), exclusive ? sum : next);
  nest.store(nest.at(so_far, 0, {after, 1, 0}), next);
  to.statements.emplace_back(nest.finish());
}

void write_cumsum(Scope& s, ValueId v, Block& to) { write_running(s, v, ScalarOp::add, to); }
void write_cumprod(Scope& s, ValueId v, Block& to) { write_running(s, v, ScalarOp::mul, to); }

// y[k] = x[k - 1] + w[k - 1] y[k - 1].
void write_weighted_cumsum(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  if (elements(shape_of(s, v)) == 0) return;
  const BufferId x = in_memory(s, a.operands[0], to), w = in_memory(s, a.operands[1], to);
  const auto [before, extent, after] = AxisLines(shape_of(s, a.operands[0]), a.attributes[0]);
  const bool reverse = a.attributes[1].integers[0] != 0;
  const std::int64_t begin = reverse ? (extent - 1) * after : 0, step = reverse ? -after : after;
  const BufferId so_far = s.scratch(s.core[v].dtype, {before, after});
  NestBuilder first(s, v, {before, after});
  const std::uint32_t zero = first.number(s.core[v].dtype, 0);
  first.store(first.at(so_far, 0, {after, 1}), zero);
  first.store(first.at(s.place(v), begin, {extent * after, 1}), zero);
  to.statements.emplace_back(first.finish());
  if (extent == 1) return;

  NestBuilder nest(s, v, {before, after, extent - 1}, {false, false, true});
  const Strides line = {extent * after, 1, step};
  const std::uint32_t sum = nest.load(nest.at(so_far, 0, {after, 1, 0})), weight = nest.load(nest.at(w, begin, line)),
                      more = nest.load(nest.at(x, begin, line));
  const std::uint32_t next = nest.operation(ScalarOp::add, {more, nest.operation(ScalarOp::mul, {weight, sum})});
  nest.store(nest.at(s.place(v), begin + step, line), next);
  nest.store(nest.at(so_far, 0, {after, 1, 0}), next);
  to.statements.emplace_back(nest.finish());
}

}  // namespace

Writer writer_of_places(std::string_view name) {
  static constexpr std::pair<std::string_view, Writer> writers[] = {
      {"take", write_take},
      {"sum_take", write_sum_take},
      {"add_at", write_add_at},
      {"gather_elements", write_gather_elements},
      {"take_along_axis", write_gather_elements},
      {"gather_nd", write_gather_nd},
      {"scatter_elements", write_scatter_elements},
      {"scatter_nd", write_scatter_nd},
      {"dynamic_slice", write_dynamic_slice},
      {"dynamic_update_slice", write_dynamic_update_slice},
      {"cumsum", write_cumsum},
      {"cumprod", write_cumprod},
      {"weighted_cumsum", write_weighted_cumsum},
  };
  const auto at = std::ranges::find(writers, name, &std::pair<std::string_view, Writer>::first);
  return at == std::end(writers) ? nullptr : at->second;
}

}  // namespace rml::loops
