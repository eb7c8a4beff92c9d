// Convolutions, pooling and their adjoints, in the order of the kernels of the runtime (convolution.cc, pooling.cc).
//
// The padding of a tensor is written out: its channels are copied into the middle of larger scratch, so that every
// access is a start and steps.
//
//   y[n, o, p] = sum over c, k of x[n, c, p stride - begin + k dilation] w[o, c, k]
//
// Adjoints add to places of such scratch, whose middle is then copied to the result. Sums begin with 0.
#include <algorithm>
#include <array>
#include <utility>

#include "lowering/loops/nest_builder.h"
#include "lowering/loops/write_values.h"
#include "semantics/core/queries.h"
#include "semantics/operators/windows.h"

namespace rml::loops {

namespace {

using Triple = std::array<std::int64_t, 3>;
using window::Windows;

Triple steps_of(const Triple& extent) { return {extent[1] * extent[2], extent[2], 1}; }
std::int64_t volume(const Triple& t) { return t[0] * t[1] * t[2]; }
Triple each_axis(const Windows& w, std::int64_t window::Axis::* member) {
  return {w.axis[0].*member, w.axis[1].*member, w.axis[2].*member};
}
std::vector<std::int64_t> operator+(std::vector<std::int64_t> a, const Triple& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
std::vector<std::int64_t> operator+(std::vector<std::int64_t> a, std::int64_t b) {
  a.push_back(b);
  return a;
}
Triple operator*(const Triple& a, const Triple& b) { return {a[0] * b[0], a[1] * b[1], a[2] * b[2]}; }
constexpr Triple still = {0, 0, 0};

// Flags for loops of which the first `each` are independent and the others are sums.
std::vector<bool> sums_behind(std::size_t each, std::size_t all) {
  std::vector<bool> sums(all, true);
  std::fill(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(each), false);
  return sums;
}

// Channels of three axes in a larger buffer, with the place of their element 0.
struct Field {
  BufferId buffer;
  Triple extent;
  std::int64_t size() const { return volume(extent); }
  Triple steps() const { return steps_of(extent); }
};

// The extents that windows see along each axis, from the beginning of the first window.
Triple seen(const Windows& w) {
  Triple all{};
  for (std::size_t k = 0; k < all.size(); ++k)
    all[k] = std::max<std::int64_t>((w.axis[k].out - 1) * w.axis[k].stride + w.axis[k].reach(), 0);
  return all;
}

// Copies `channels` boxes between fields. Element 0 of the box is at from_place and at to_place.
struct Corner {
  BufferId buffer;
  Triple extent, place;
  std::int64_t start() const {
    const Triple at = place * steps_of(extent);
    return at[0] + at[1] + at[2];
  }
};
void copy_box(Scope& s, ValueId v, std::int64_t channels, const Triple& box, const Corner& from, const Corner& to,
              Block& out) {
  if (channels * volume(box) == 0 || std::ranges::any_of(box, [](std::int64_t e) { return e < 0; })) return;
  NestBuilder nest(s, v, Shape{channels} + box);
  const std::uint32_t element =
      nest.load(nest.at(from.buffer, from.start(), Strides{volume(from.extent)} + steps_of(from.extent)));
  nest.store(nest.at(to.buffer, to.start(), Strides{volume(to.extent)} + steps_of(to.extent)), element);
  out.statements.emplace_back(nest.finish());
}

// Of the elements [0, in) of a line, moved by `by`: the first one that falls in [0, size), and how many do.
struct Overlap {
  std::int64_t first = 0, count = 0;
  Overlap(std::int64_t in, std::int64_t by, std::int64_t size)
      : first(std::max<std::int64_t>(0, -by)), count(std::min(in, size - by) - first) {}
};
// Copies channels of `inner` extents into channels of `outer` extents, or back, at a displacement.
void copy_moved(Scope& s, ValueId v, std::int64_t channels, const Field& inner, const Field& outer, const Triple& by,
                bool inwards, Block& to) {
  Corner inside{inner.buffer, inner.extent, {}}, outside{outer.buffer, outer.extent, {}};
  Triple box{};
  for (std::size_t k = 0; k < box.size(); ++k) {
    const Overlap o(inner.extent[k], by[k], outer.extent[k]);
    inside.place[k] = o.first, outside.place[k] = o.first + by[k];
    box[k] = std::max<std::int64_t>(o.count, 0);
  }
  copy_box(s, v, channels, box, inwards ? inside : outside, inwards ? outside : inside, to);
}

// x with padding, as the windows see it: element 0 is where the first window begins.
Field surrounded(Scope& s, ValueId v, BufferId x, std::int64_t channels, const Windows& w, const Tensor& beside,
                 Block& to) {
  const Field own{x, each_axis(w, &window::Axis::in)};
  const Triple all = seen(w), begin = each_axis(w, &window::Axis::begin);
  bool within = true;
  for (std::size_t k = 0; k < all.size(); ++k) within = within && begin[k] == 0 && all[k] <= own.extent[k];
  if (within) return own;
  const Field field{s.scratch(beside.dtype(), Shape{channels} + all), all};
  write_filling(s, v, field.buffer, beside, to);
  copy_moved(s, v, channels, own, field, begin, true, to);
  return field;
}

Tensor zero(const Scope& s, ValueId v) { return Tensor(s.core[v].dtype, {}); }

bool nothing(const Shape& loops) { return std::ranges::find(loops, 0) != loops.end(); }

Convolution convolution(const Scope& s, ValueId v) {
  const core::Apply& a = apply(s, v);
  std::vector<Shape> shapes;
  for (const ValueId x : a.operands) shapes.push_back(shape_of(s, x));
  Application app;
  app.operand_shapes = shapes;
  app.attributes = a.attributes;
  return convolution_of(operators()[a.op].window, app, shape_of(s, v));
}

// Steps of outputs and of taps in a field over which windows slide.
struct Sliding {
  Triple output, tap;
  Sliding(const Windows& w, const Field& f)
      : output(each_axis(w, &window::Axis::stride) * f.steps()),
        tap(each_axis(w, &window::Axis::dilation) * f.steps()) {}
};

// A convolution, or the gradient of its filter. The result begins with zeros.
struct Correlation {
  const Convolution c;
  const BufferId x, other;  // `other` is the filter, or the adjoint of the outputs
  const Triple outputs = each_axis(c.windows, &window::Axis::out), taps = each_axis(c.windows, &window::Axis::size);
  const std::int64_t out = volume(outputs), of_filter = volume(taps);
  Correlation(Scope& s, ValueId v, Block& to)
      : c(convolution(s, v)),
        x(in_memory(s, apply(s, v).operands[0], to)),
        other(in_memory(s, apply(s, v).operands[1], to)) {
    write_filling(s, v, s.place(v), zero(s, v), to);
  }
  Field field(Scope& s, ValueId v, Block& to) const {
    return surrounded(s, v, x, c.batch * c.groups * c.in, c.windows, zero(s, v), to);
  }
};

void write_convolution(Scope& s, ValueId v, Block& to) {
  const Correlation k(s, v, to);
  const auto& [c, x, filter, outputs, taps, out, of_filter] = k;
  const Shape loops = Shape{c.batch, c.groups, c.out} + outputs + c.in + taps;
  if (nothing(loops)) return;
  const Field field = k.field(s, v, to);
  const Sliding slide(c.windows, field);
  const std::int64_t in = field.size();
  NestBuilder nest(s, v, loops, sums_behind(6, loops.size()));
  const std::uint32_t seen = nest.load(
                          nest.at(field.buffer, 0,
                                  Strides{c.groups * c.in * in, c.in * in, 0} + slide.output + in + slide.tap)),
                      weight = nest.load(nest.at(
                          filter, 0,
                          Strides{0, c.out * c.in * of_filter, c.in * of_filter} + still + of_filter + steps_of(taps)));
  nest.sum(nest.at(s.place(v), 0, Strides{c.groups * c.out * out, c.out * out, out} + steps_of(outputs) + 0 + still),
           ScalarOp::add, nest.operation(ScalarOp::mul, {seen, weight}));
  to.statements.emplace_back(nest.finish());
}

void write_filter_gradient(Scope& s, ValueId v, Block& to) {
  const Correlation k(s, v, to);
  const auto& [c, x, g, outputs, taps, out, of_filter] = k;
  const Shape loops = Shape{c.groups, c.out, c.in} + taps + c.batch + outputs;
  if (nothing(loops)) return;
  const Field field = k.field(s, v, to);
  const Sliding slide(c.windows, field);
  const std::int64_t in = field.size();
  NestBuilder nest(s, v, loops, sums_behind(6, loops.size()));
  const std::uint32_t seen = nest.load(
                          nest.at(field.buffer, 0,
                                  Strides{c.in * in, 0, in} + slide.tap + c.groups * c.in * in + slide.output)),
                      adjoint = nest.load(nest.at(
                          g, 0, Strides{c.out * out, out, 0} + still + c.groups * c.out * out + steps_of(outputs)));
  nest.sum(nest.at(s.place(v), 0,
                   Strides{c.out * c.in * of_filter, c.in * of_filter, of_filter} + steps_of(taps) + 0 + still),
           ScalarOp::add, nest.operation(ScalarOp::mul, {seen, adjoint}));
  to.statements.emplace_back(nest.finish());
}

// Every tap of every output adds to the input that it sees, unless that is padding.
void write_input_gradient(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const Convolution c = convolution(s, v);
  const Windows& w = c.windows;
  const BufferId g = in_memory(s, a.operands[0], to), filter = in_memory(s, a.operands[1], to);
  write_filling(s, v, s.place(v), zero(s, v), to);
  const Triple taps = each_axis(w, &window::Axis::size), inputs = each_axis(w, &window::Axis::in),
               outputs = each_axis(w, &window::Axis::out), reached = seen(w);
  const Shape loops = Shape{c.batch, c.groups, c.in, c.out} + taps + outputs;
  if (nothing(loops) || volume(inputs) == 0) return;
  const std::int64_t in_channels = c.batch * c.groups * c.in;
  const Field sums{s.scratch(s.core[v].dtype, Shape{in_channels} + reached), reached};
  write_filling(s, v, sums.buffer, zero(s, v), to);
  const Sliding slide(w, sums);
  const std::int64_t in = sums.size(), out = volume(outputs), of_filter = volume(taps);
  NestBuilder nest(s, v, loops, sums_behind(3, loops.size()));
  const std::uint32_t adjoint = nest.load(nest.at(
                          g, 0, Strides{c.groups * c.out * out, c.out * out, 0, out} + still + steps_of(outputs))),
                      weight = nest.load(nest.at(
                          filter, 0,
                          Strides{0, c.out * c.in * of_filter, of_filter, c.in * of_filter} + steps_of(taps) + still));
  nest.sum(nest.at(sums.buffer, 0, Strides{c.groups * c.in * in, c.in * in, in, 0} + slide.tap + slide.output),
           ScalarOp::add, nest.operation(ScalarOp::mul, {adjoint, weight}));
  to.statements.emplace_back(nest.finish());
  copy_moved(s, v, in_channels, {s.place(v), inputs}, sums, each_axis(w, &window::Axis::begin), false, to);
}

// ---- pooling

struct Pool {
  Windows w;
  std::int64_t channels;
  Triple outputs, taps;
  Pool(const Windows& windows, const Shape& x)
      : w(windows),
        channels(x[0] * x[1]),
        outputs(each_axis(w, &window::Axis::out)),
        taps(each_axis(w, &window::Axis::size)) {}
  Shape loops() const { return Shape{channels} + outputs + taps; }
  Strides result() const { return Strides{volume(outputs)} + steps_of(outputs) + still; }
  Strides field(const Field& f) const {
    const Sliding slide(w, f);
    return Strides{f.size()} + slide.output + slide.tap;
  }
};
// The divisor of averages: a number if it is the same for all outputs, otherwise a buffer.
struct Divisor {
  double number = 1;
  BufferId buffer;  // buffer of the divisor; invalid: the divisor is the number
};

// Counts the covered elements by sliding windows over ones, which replace the elements that count.
Divisor divisor(Scope& s, ValueId v, const Pool& p, bool with_padding, Block& to) {
  const DType dtype = s.core[v].dtype;
  const Triple all = seen(p.w);
  Triple first{}, box{};
  Divisor d;
  bool same = true;
  for (std::size_t k = 0; k < box.size(); ++k) {
    const window::Axis& a = p.w.axis[k];
    const auto covered = [&](std::int64_t o) { return with_padding ? a.covered_padded(o) : a.covered(o); };
    for (std::int64_t o = 1; o < a.out; ++o) same = same && covered(o) == covered(0);
    d.number *= static_cast<double>(covered(0));
    first[k] = with_padding ? 0 : a.begin;
    box[k] = std::min(a.begin + a.in + (with_padding ? a.end : 0), all[k]) - first[k];
  }
  if (same || nothing(p.loops()) || nothing(Shape{} + box)) return d;
  const Field ones{s.scratch(dtype, Shape{} + all), all};
  d.buffer = s.scratch(dtype, Shape{} + p.outputs);
  write_filling(s, v, ones.buffer, Tensor(dtype, {}), to);
  NestBuilder fill(s, v, Shape{} + box);
  const std::uint32_t one = fill.number(dtype, 1);
  fill.store(fill.at(ones.buffer, Corner{ones.buffer, all, first}.start(), Strides{} + steps_of(all)), one);
  to.statements.emplace_back(fill.finish());
  write_filling(s, v, d.buffer, Tensor(dtype, {}), to);
  const Sliding slide(p.w, ones);
  NestBuilder count(s, v, Shape{} + p.outputs + p.taps, sums_behind(3, 6));
  const std::uint32_t element = count.load(count.at(ones.buffer, 0, Strides{} + slide.output + slide.tap));
  count.sum(count.at(d.buffer, 0, Strides{} + steps_of(p.outputs) + still), ScalarOp::add, element);
  to.statements.emplace_back(count.finish());
  return d;
}

// Divides `of`, which has one element for each output of each channel, into the same buffer or another one.
void write_quotient(Scope& s, ValueId v, const Pool& p, const Divisor& d, BufferId of, BufferId result, Block& to) {
  if (nothing(p.loops())) return;
  NestBuilder nest(s, v, Shape{p.channels} + p.outputs);
  const Strides all = Strides{volume(p.outputs)} + steps_of(p.outputs);
  const std::uint32_t x = nest.load(nest.at(of, 0, all));
  const std::uint32_t by = d.buffer.valid() ? nest.load(nest.at(d.buffer, 0, Strides{0} + steps_of(p.outputs)))
                                            : nest.number(s.core[v].dtype, d.number);
  nest.store(nest.at(result, 0, all), nest.operation(ScalarOp::div, {x, by}));
  to.statements.emplace_back(nest.finish());
}

void sum_pool(Scope& s, ValueId v, const Pool& p, Block& to) {
  const BufferId x = in_memory(s, apply(s, v).operands[0], to);
  write_filling(s, v, s.place(v), zero(s, v), to);
  if (nothing(p.loops())) return;
  const Field field = surrounded(s, v, x, p.channels, p.w, zero(s, v), to);
  NestBuilder nest(s, v, p.loops(), sums_behind(4, 7));
  const std::uint32_t element = nest.load(nest.at(field.buffer, 0, p.field(field)));
  nest.sum(nest.at(s.place(v), 0, p.result()), ScalarOp::add, element);
  to.statements.emplace_back(nest.finish());
}

// Adds g, one element for each output of each channel, to all elements under the output's window.
void spread(Scope& s, ValueId v, const Pool& p, BufferId g, Block& to) {
  write_filling(s, v, s.place(v), zero(s, v), to);
  if (nothing(p.loops())) return;
  const Triple all = seen(p.w);
  const Field sums{s.scratch(s.core[v].dtype, Shape{p.channels} + all), all};
  write_filling(s, v, sums.buffer, zero(s, v), to);
  NestBuilder nest(s, v, p.loops(), sums_behind(1, 7));
  const std::uint32_t part = nest.load(nest.at(g, 0, p.result()));
  nest.sum(nest.at(sums.buffer, 0, p.field(sums)), ScalarOp::add, part);
  to.statements.emplace_back(nest.finish());
  copy_moved(s, v, p.channels, {s.place(v), each_axis(p.w, &window::Axis::in)}, sums,
             each_axis(p.w, &window::Axis::begin), false, to);
}

Pool pool_over(const Scope& s, ValueId x, std::span<const Attribute> attributes) {
  return {std::get<Windows>(pool_windows(shape_of(s, x), attributes.first(6))), shape_of(s, x)};
}

void write_sum_pool(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  sum_pool(s, v, pool_over(s, a.operands[0], a.attributes), to);
}
void write_average_pool(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const Pool p = pool_over(s, a.operands[0], a.attributes);
  sum_pool(s, v, p, to);
  if (!is_float(s.core[v].dtype)) return;
  write_quotient(s, v, p, divisor(s, v, p, a.attributes[6].integers[0] != 0, to), s.place(v), s.place(v), to);
}
void write_sum_pool_gradient(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const BufferId g = in_memory(s, a.operands[0], to);
  spread(s, v, pool_over(s, v, std::span(a.attributes).subspan(1)), g, to);
}
void write_average_pool_gradient(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const Pool p = pool_over(s, v, std::span(a.attributes).subspan(1));
  BufferId g = in_memory(s, a.operands[0], to);
  if (is_float(s.core[v].dtype)) {
    const BufferId parts = s.scratch(s.core[v].dtype, shape_of(s, a.operands[0]));
    write_quotient(s, v, p, divisor(s, v, p, a.attributes[7].integers[0] != 0, to), g, parts, to);
    g = parts;
  }
  spread(s, v, p, g, to);
}

// The first largest element, or the first NaN. The padding does not matter, because no element is smaller.
void write_maxima(Scope& s, ValueId v, const Pool& p, const Field& field, BufferId result, Block& to) {
  write_filling(s, v, result, least(s[field.buffer].dtype), to);
  NestBuilder nest(s, v, p.loops(), sums_behind(4, 7));
  const std::uint32_t candidate = nest.load(nest.at(field.buffer, 0, p.field(field))),
                      so_far = nest.load(nest.at(result, 0, p.result()));
  std::uint32_t wins = nest.operation(ScalarOp::gt, {candidate, so_far});
  if (is_float(nest.dtype(candidate))) {
    wins = nest.operation(ScalarOp::logical_or, {wins, nest.is_nan(candidate)});
    const std::uint32_t found = nest.is_nan(so_far);
    wins = nest.operation(ScalarOp::logical_and, {wins, nest.operation(ScalarOp::logical_not, {found})});
  }
  nest.store(nest.at(result, 0, p.result()), nest.operation(ScalarOp::select, {wins, candidate, so_far}));
  to.statements.emplace_back(nest.finish());
}
void write_max_pool(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const Pool p = pool_over(s, a.operands[0], a.attributes);
  const BufferId x = in_memory(s, a.operands[0], to);
  if (nothing(p.loops())) return;
  write_maxima(s, v, p, surrounded(s, v, x, p.channels, p.w, least(s.core[v].dtype), to), s.place(v), to);
}

// A Boolean for each place that windows see: true for an element, false for padding.
BufferId write_mask(Scope& s, ValueId v, const Pool& p, Block& to) {
  const Triple all = seen(p.w);
  const BufferId mask = s.scratch(DType::boolean, Shape{} + all);
  write_filling(s, v, mask, Tensor::boolean(false), to);
  Corner at{mask, all, each_axis(p.w, &window::Axis::begin)};
  Triple box{};
  for (std::size_t k = 0; k < box.size(); ++k) box[k] = std::min(p.w.axis[k].in, all[k] - at.place[k]);
  if (std::ranges::any_of(box, [](std::int64_t e) { return e < 1; })) return mask;
  NestBuilder nest(s, v, Shape{} + box);
  const std::uint32_t inside = nest.number(Tensor::boolean(true));
  nest.store(nest.at(mask, at.start(), Strides{} + steps_of(all)), inside);
  to.statements.emplace_back(nest.finish());
  return mask;
}

// Adds g to the first largest element of its window.
void write_max_pool_gradient(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const Pool p = pool_over(s, a.operands[0], a.attributes);
  const BufferId x = in_memory(s, a.operands[0], to), g = in_memory(s, a.operands[1], to);
  write_filling(s, v, s.place(v), zero(s, v), to);
  if (nothing(p.loops())) return;
  const DType dtype = s.core[v].dtype;
  const Triple all = seen(p.w);
  const Field field = surrounded(s, v, x, p.channels, p.w, least(dtype), to);
  const BufferId largest = s.scratch(dtype, Shape{p.channels} + p.outputs),
                 found = s.scratch(DType::boolean, Shape{p.channels} + p.outputs), mask = write_mask(s, v, p, to);
  write_maxima(s, v, p, field, largest, to);
  write_filling(s, v, found, Tensor::boolean(false), to);
  const Field sums{s.scratch(dtype, Shape{p.channels} + all), all};
  write_filling(s, v, sums.buffer, zero(s, v), to);

  NestBuilder nest(s, v, p.loops(), sums_behind(1, 7));
  const auto both = [&](std::uint32_t one, std::uint32_t other) {
    return nest.operation(ScalarOp::logical_and, {one, other});
  };
  const auto either = [&](std::uint32_t one, std::uint32_t other) {
    return nest.operation(ScalarOp::logical_or, {one, other});
  };
  Strides over_mask = p.field({mask, all});
  over_mask[0] = 0;
  const std::uint32_t candidate = nest.load(nest.at(field.buffer, 0, p.field(field))),
                      best = nest.load(nest.at(largest, 0, p.result())),
                      known = nest.load(nest.at(found, 0, p.result())), inside = nest.load(nest.at(mask, 0, over_mask));
  std::uint32_t is_best = nest.operation(ScalarOp::eq, {candidate, best});
  if (is_float(dtype)) {
    const std::uint32_t nan = nest.is_nan(candidate);
    is_best = either(is_best, both(nan, nest.is_nan(best)));
  }
  const std::uint32_t first = both(both(is_best, inside), nest.operation(ScalarOp::logical_not, {known}));
  nest.store(nest.at(found, 0, p.result()), either(known, first));
  const std::uint32_t part = nest.load(nest.at(g, 0, p.result())), none = nest.number(dtype, 0);
  nest.sum(nest.at(sums.buffer, 0, p.field(sums)), ScalarOp::add,
           nest.operation(ScalarOp::select, {first, part, none}));
  to.statements.emplace_back(nest.finish());
  copy_moved(s, v, p.channels, {s.place(v), each_axis(p.w, &window::Axis::in)}, sums,
             each_axis(p.w, &window::Axis::begin), false, to);
}

// ---- windows as columns

Pool columns_over(const Scope& s, ValueId x, std::span<const Attribute> attributes) {
  const window::Integers sizes =
      attributes[0].given
          ? window::Integers(attributes[0].integers.data(), static_cast<std::int64_t>(attributes[0].integers.size()))
          : window::Integers();
  return {std::get<Windows>(windows_over(shape_of(s, x), sizes, attributes.subspan(1, 4))), shape_of(s, x)};
}
Shape column_loops(const Pool& p) { return Shape{p.channels} + p.taps + p.outputs; }
Strides of_columns(const Pool& p) {
  const std::int64_t outputs = volume(p.outputs);
  const Triple taps = steps_of(p.taps) * Triple{outputs, outputs, outputs};
  return Strides{volume(p.taps) * outputs} + taps + steps_of(p.outputs);
}
Strides of_field(const Pool& p, const Field& f) {
  const Sliding slide(p.w, f);
  return Strides{f.size()} + slide.tap + slide.output;
}

void write_im2col(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const Pool p = columns_over(s, a.operands[0], a.attributes);
  const BufferId x = in_memory(s, a.operands[0], to);
  if (nothing(p.loops())) return;
  const Field field = surrounded(s, v, x, p.channels, p.w, zero(s, v), to);
  NestBuilder nest(s, v, column_loops(p));
  const std::uint32_t element = nest.load(nest.at(field.buffer, 0, of_field(p, field)));
  nest.store(nest.at(s.place(v), 0, of_columns(p)), element);
  to.statements.emplace_back(nest.finish());
}
void write_col2im(Scope& s, ValueId v, Block& to) {
  const core::Apply& a = apply(s, v);
  const Pool p = columns_over(s, v, std::span(a.attributes).subspan(1));
  const BufferId from = in_memory(s, a.operands[0], to);
  write_filling(s, v, s.place(v), zero(s, v), to);
  if (nothing(p.loops())) return;
  const Triple all = seen(p.w);
  const Field sums{s.scratch(s.core[v].dtype, Shape{p.channels} + all), all};
  write_filling(s, v, sums.buffer, zero(s, v), to);
  NestBuilder nest(s, v, column_loops(p), sums_behind(1, 7));
  const std::uint32_t element = nest.load(nest.at(from, 0, of_columns(p)));
  nest.sum(nest.at(sums.buffer, 0, of_field(p, sums)), ScalarOp::add, element);
  to.statements.emplace_back(nest.finish());
  copy_moved(s, v, p.channels, {s.place(v), each_axis(p.w, &window::Axis::in)}, sums,
             each_axis(p.w, &window::Axis::begin), false, to);
}

}  // namespace

Writer writer_of_windows(WindowForm form) {
  switch (form) {
    case WindowForm::none:
      return nullptr;
    case WindowForm::convolution:
      return write_convolution;
    case WindowForm::transposed_convolution:
    case WindowForm::input_gradient:
      return write_input_gradient;
    case WindowForm::filter_gradient:
      return write_filter_gradient;
    case WindowForm::max_pool:
      return write_max_pool;
    case WindowForm::max_pool_gradient:
      return write_max_pool_gradient;
    case WindowForm::sum_pool:
      return write_sum_pool;
    case WindowForm::sum_pool_gradient:
      return write_sum_pool_gradient;
    case WindowForm::average_pool:
      return write_average_pool;
    case WindowForm::average_pool_gradient:
      return write_average_pool_gradient;
    case WindowForm::windows_as_columns:
      return write_im2col;
    case WindowForm::columns_as_windows:
      return write_col2im;
  }
  return nullptr;
}

}  // namespace rml::loops
