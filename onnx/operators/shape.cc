// Imports operators that move elements without computing: shapes, layouts and constants.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "onnx/call.h"

namespace rml::onnx {

namespace {

using Integers = std::vector<std::int64_t>;

Term reshaped(const Call& c, const Term& x, const Shape& shape) {
  return x.shape == shape ? x : c.apply("reshape", {x}, {{"shape", Integers(shape)}});
}

// 0 means the operand's extent of that axis (unless allowzero); -1 means the remaining extent.
std::vector<Term> reshape(Call& c) {
  const Term& x = c.in(0);
  Integers shape = c.version < 5 ? c.integers("shape") : c.known_integers(1, "the shape");
  const bool keep_zero = c.integer("allowzero", 0) != 0;
  std::int64_t rest = 1, open = -1;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 0 && !keep_zero) {
      if (k >= x.shape.size())
        throw ModelError{"", "the shape copies axis " + std::to_string(k) + " of " + to_string(x.shape)};
      shape[k] = x.shape[k];
    }
    if (shape[k] < -1) throw ModelError{"", "the shape has the extent " + std::to_string(shape[k])};
    if (shape[k] == -1 && open >= 0) throw ModelError{"", "the shape has two extents of -1"};
    if (shape[k] == -1)
      open = static_cast<std::int64_t>(k);
    else if (__builtin_mul_overflow(rest, shape[k], &rest))
      throw ModelError{"", "the shape has too many elements"};
  }
  if (open >= 0) {
    if (rest == 0 || x.elements() % rest != 0)
      throw ModelError{
          "", to_string(x.shape) + " does not fit the shape, whose other extents make " + std::to_string(rest)};
    shape[static_cast<std::size_t>(open)] = x.elements() / rest;
  }
  return {reshaped(c, x, shape)};
}

std::vector<Term> flatten(Call& c) {
  const Term& x = c.in(0);
  std::int64_t axis = c.integer("axis", 1);
  if (axis != x.rank()) axis = normalized(axis, x.rank());
  Shape shape = {1, 1};
  for (std::int64_t k = 0; k < x.rank(); ++k) shape[k < axis ? 0 : 1] *= x.shape[static_cast<std::size_t>(k)];
  return {reshaped(c, x, shape)};
}

std::vector<Term> squeeze(Call& c) {
  const Term& x = c.in(0);
  const auto given = c.axes(1, 13);
  Integers axes;
  if (given) axes = normalized(*given, x.rank());
  Shape shape;
  for (std::int64_t k = 0; k < x.rank(); ++k) {
    const std::int64_t extent = x.shape[static_cast<std::size_t>(k)];
    const bool named = std::ranges::find(axes, k) != axes.end();
    if (named && extent != 1)
      throw ModelError{"", "axis " + std::to_string(k) + " of " + to_string(x.shape) + " is not 1"};
    if (given ? !named : extent != 1) shape.push_back(extent);
  }
  return {reshaped(c, x, shape)};
}

std::vector<Term> unsqueeze(Call& c) {
  const Term& x = c.in(0);
  const auto given = c.axes(1, 13);
  if (!given) throw ModelError{"", "the axes are missing"};
  const auto rank = x.rank() + static_cast<std::int64_t>(given->size());
  if (rank > static_cast<std::int64_t>(max_rank))
    throw ModelError{"", "it makes " + std::to_string(rank) + " axes; " + std::to_string(max_rank) + " are supported"};
  const Integers axes = normalized(*given, rank);
  Shape shape;
  auto from = x.shape.begin();
  for (std::int64_t k = 0; k < rank; ++k) shape.push_back(std::ranges::find(axes, k) != axes.end() ? 1 : *from++);
  return {reshaped(c, x, shape)};
}

std::vector<Term> transpose(Call& c) {
  const Term& x = c.in(0);
  Integers axes = c.integers("perm");
  if (axes.empty())
    for (std::int64_t k = x.rank(); k-- > 0;) axes.push_back(k);
  if (static_cast<std::int64_t>(axes.size()) != x.rank())
    throw ModelError{"", "perm does not name every axis of " + to_string(x.shape)};
  axes = normalized(axes, x.rank());
  return {std::ranges::is_sorted(axes) ? x : c.apply("transpose", {x}, {{"axes", axes}})};
}

std::vector<Term> concat(Call& c) {
  if (c.version >= 4 && !c.has("axis")) throw ModelError{"", "attribute 'axis' is missing"};
  const std::int64_t axis = normalized(c.integer("axis", 1), c.in(0).rank());
  if (c.inputs() == 1) return {c.in(0)};
  return {c.apply("concat", c.all_inputs(), {{"axis", axis}})};
}

std::vector<Term> split(Call& c) {
  const Term x = c.in(0);
  const std::int64_t axis = normalized(c.integer("axis", 0), x.rank());
  const std::int64_t extent = x.shape[static_cast<std::size_t>(axis)];
  const auto count = static_cast<std::int64_t>(c.node.outputs.size());
  Integers lengths = c.version < 13 && c.has("split") ? c.integers("split") : Integers{};
  if (c.has(std::size_t{1})) lengths = c.known_integers(1, "the lengths of the parts");
  if (lengths.empty()) {
    if (c.has("num_outputs") && c.integer("num_outputs", 0) != count)
      throw ModelError{"", "num_outputs differs from the number of outputs"};
    const std::int64_t length = (extent + count - 1) / count;
    if (c.version < 18 && extent % count != 0)
      throw ModelError{"", "axis " + std::to_string(axis) + " of " + to_string(x.shape) + " has no " +
                               std::to_string(count) + " equal parts"};
    for (std::int64_t k = 0; k < count; ++k)
      lengths.push_back(std::clamp<std::int64_t>(extent - k * length, 0, length));
  }
  if (static_cast<std::int64_t>(lengths.size()) != count)
    throw ModelError{
        "", "there are " + std::to_string(lengths.size()) + " lengths for " + std::to_string(count) + " outputs"};
  std::vector<Term> parts;
  std::int64_t at = 0;
  for (const std::int64_t length : lengths) {
    if (length < 0 || at > extent - length)
      throw ModelError{"", "the lengths of the parts do not sum to " + std::to_string(extent)};
    parts.push_back(c.b.part(x, axis, at, at + length));
    at += length;
  }
  if (at != extent) throw ModelError{"", "the lengths of the parts do not sum to " + std::to_string(extent)};
  return parts;
}

struct SliceOfAxis {
  std::int64_t start = 0, stop = 0, step = 1;
};

// The slice of an axis of extent n, in the form of the operator `slice`: bounds beyond the axis are
// clamped to its ends.
SliceOfAxis slice_of_axis(std::int64_t n, std::int64_t begin, std::int64_t end, std::int64_t step) {
  if (step == 0 || step == INT64_MIN) throw ModelError{"", "a step is " + std::to_string(step)};
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  const auto bound = [&](std::int64_t v) { return std::clamp(v < 0 ? (v < -n ? low : v + n) : v, low, high); };
  SliceOfAxis slice{bound(begin), bound(end), step};
  const bool empty = step > 0 ? slice.stop <= slice.start : slice.start <= slice.stop;
  if (empty) return {0, 0, 1};
  // A stop before the first element, so that this element is included.
  if (step < 0 && slice.stop < 0) slice.stop = -n - 1;
  return slice;
}

// The arguments of Slice, which are attributes in old versions of the operator and inputs in others.
struct SliceArguments {
  Integers begins, ends, axes, steps;

  explicit SliceArguments(Call& c) {
    const bool attributes = c.version < 10;
    begins = attributes ? c.integers("starts") : c.known_integers(1, "the starts");
    ends = attributes ? c.integers("ends") : c.known_integers(2, "the ends");
    steps.assign(begins.size(), 1);
    for (std::size_t k = 0; k < begins.size(); ++k) axes.push_back(static_cast<std::int64_t>(k));
    if (attributes) axes = c.integers("axes", axes);
    if (!attributes && c.has(3)) axes = c.known_integers(3, "the axes");
    if (!attributes && c.has(4)) steps = c.known_integers(4, "the steps");
    if (ends.size() != begins.size() || axes.size() != begins.size() || steps.size() != begins.size())
      throw ModelError{"", "starts, ends, axes and steps differ in number"};
    axes = normalized(axes, c.in(0).rank());
  }
};

std::vector<Term> slice(Call& c) {
  const Term& x = c.in(0);
  const SliceArguments given(c);
  Integers starts(x.shape.size(), 0), stops(x.shape.begin(), x.shape.end()), steps(x.shape.size(), 1);
  bool whole = true;
  for (std::size_t k = 0; k < given.axes.size(); ++k) {
    const auto axis = static_cast<std::size_t>(given.axes[k]);
    const std::int64_t n = x.shape[axis];
    const SliceOfAxis part = slice_of_axis(n, given.begins[k], given.ends[k], given.steps[k]);
    starts[axis] = part.start;
    stops[axis] = part.stop;
    steps[axis] = part.step;
    whole = whole && part.start == 0 && part.stop == n && part.step == 1;
  }
  if (whole) return {x};
  if (std::ranges::all_of(steps, [](std::int64_t s) { return s == 1; }))
    return {c.apply("slice", {x}, {{"starts", starts}, {"stops", stops}})};
  return {c.apply("slice", {x}, {{"starts", starts}, {"stops", stops}, {"steps", steps}})};
}

std::vector<Term> expand(Call& c) {
  const Term& x = c.in(0);
  const Integers shape = c.known_integers(1, "the shape");
  const auto both = broadcast(x.shape, shape);
  if (!both) throw ModelError{"", to_string(x.shape) + " does not broadcast to " + to_string(shape)};
  return {*both == x.shape ? x : c.apply("broadcast_to", {x}, {{"shape", Integers(*both)}})};
}

std::vector<Term> tile(Call& c) {
  const Term& x = c.in(0);
  Integers times;
  if (c.version < 6) {
    times.assign(x.shape.size(), 1);
    const std::int64_t axis = normalized(c.known_integer(2, "the axis"), x.rank());
    times.at(static_cast<std::size_t>(axis)) = c.known_integer(1, "the number of tiles");
  } else {
    times = c.known_integers(1, "the repeats");
  }
  if (static_cast<std::int64_t>(times.size()) != x.rank())
    throw ModelError{"", "there are " + std::to_string(times.size()) + " repeats for " + to_string(x.shape)};
  return {c.apply("tile", {x}, {{"reps", times}})};
}

// The result is known for every x: the part of its shape from `start` to `end`.
std::vector<Term> shape_of(Call& c) {
  const Shape& shape = c.in(0).shape;
  const auto n = static_cast<std::int64_t>(shape.size());
  const auto bound = [&](const char* attribute, std::int64_t fallback) {
    const std::int64_t v = c.integer(attribute, fallback);
    return std::clamp<std::int64_t>(v < 0 ? v + n : v, 0, n);
  };
  const std::int64_t begin = bound("start", 0), end = std::max(begin, bound("end", n));
  return {c.b.integers(Integers(shape.begin() + begin, shape.begin() + end))};
}

std::vector<Term> size_of(Call& c) {
  return {c.b.constant(Tensor::scalar<std::int64_t>(DType::i64, c.in(0).elements()))};
}

std::vector<Term> constant(Call& c) {
  if (const Tensor* value = c.tensor("value")) return {c.b.constant(*value, c.node.outputs.at(0))};
  if (c.has("value_int")) return {c.b.constant(Tensor::scalar<std::int64_t>(DType::i64, c.integer("value_int", 0)))};
  if (c.has("value_float"))
    return {c.b.constant(Tensor::scalar<float>(DType::f32, static_cast<float>(c.number("value_float", 0))))};
  for (const NodeAttribute& a : c.node.attributes) {
    if (a.name == "value_ints") return {c.b.integers(c.integers("value_ints"))};
    if (a.name == "value_floats") {
      const std::vector<float> values = c.numbers("value_floats");
      Tensor t(DType::f32, {static_cast<std::int64_t>(values.size())});
      if (!values.empty()) std::memcpy(t.data(), values.data(), t.bytes());
      return {c.b.constant(std::move(t))};
    }
  }
  throw ModelError{"", "its value is missing, or is a text or sparse, which is not supported"};
}

std::vector<Term> constant_of_shape(Call& c) {
  Tensor zero(DType::f32, {});
  const Tensor* value = c.tensor("value");
  if (value != nullptr && value->elements() != 1)
    throw ModelError{"", "its value has " + std::to_string(value->elements()) + " elements, not one"};
  Term one = c.b.constant(value != nullptr ? *value : zero);
  one = reshaped(c, one, {});
  const Integers shape = c.known_integers(0, "the shape");
  for (const std::int64_t extent : shape)
    if (extent < 0) throw ModelError{"", "the shape has the extent " + std::to_string(extent)};
  return {c.apply("full", {one}, {{"shape", shape}})};
}

std::vector<Term> range(Call& c) {
  const Tensor &start = c.known(0, "the start"), &limit = c.known(1, "the limit"), &delta = c.known(2, "the delta");
  if (start.elements() != 1 || limit.elements() != 1 || delta.elements() != 1)
    throw ModelError{"", "start, limit and delta must be scalars"};
  const auto wide = [&](const Tensor& t) {
    return c.apply("cast", {c.b.constant(t)}, {{"dtype", DType::f64}}).value->as<double>()[0];
  };
  if (wide(delta) == 0) throw ModelError{"", "the delta is 0"};
  const double span = std::ceil((wide(limit) - wide(start)) / wide(delta)), count = std::max(span, 0.0);
  if (std::isnan(span)) throw ModelError{"", "start, limit and delta do not determine a number of elements"};
  if (!(count <= static_cast<double>(max_elements))) throw ModelError{"", "it has too many elements"};
  const Term n =
      c.apply("cast", {c.apply("iota", {}, {{"n", static_cast<std::int64_t>(count)}})}, {{"dtype", start.dtype()}});
  const auto scalar = [&](const Tensor& t) { return reshaped(c, c.b.constant(t), {}); };
  return {c.apply("add", {scalar(start), c.apply("mul", {n, scalar(delta)})})};
}

std::vector<Term> eye_like(Call& c) {
  const Term& x = c.in(0);
  if (x.rank() != 2) throw ModelError{"", "it takes a matrix, not " + to_string(x.shape)};
  DType dtype = x.dtype;
  if (c.has("dtype")) {
    const auto named = dtype_of(static_cast<int>(std::clamp<std::int64_t>(c.integer("dtype", 0), 0, 100)));
    if (!named) throw ModelError{"", "its dtype is not supported"};
    dtype = *named;
  }
  const Term eye = c.apply("eye", {}, {{"n", x.shape[0]}, {"m", x.shape[1]}, {"k", c.integer("k", 0)}},
                           dtype == DType::boolean ? DType::i32 : dtype);
  return {dtype == DType::boolean ? c.apply("cast", {eye}, {{"dtype", dtype}}) : eye};
}

constexpr std::int64_t largest_block = 1 << 16;  // limit of a block; the square of this number is still small enough

std::vector<Term> depth_to_space(Call& c) {
  const Term& x = c.in(0);
  const std::int64_t n = c.integer("blocksize", 0);
  const std::string mode = c.text("mode", "DCR");
  if (x.rank() != 4 || n < 1 || n > largest_block || x.shape[1] % (n * n) != 0)
    throw ModelError{"", "blocks of " + std::to_string(n) + " do not fit " + to_string(x.shape)};
  if (mode != "DCR" && mode != "CRD") throw ModelError{"", "the mode '" + mode + "' is not known: DCR, CRD"};
  const std::int64_t depth = x.shape[1] / (n * n), h = x.shape[2], w = x.shape[3];
  const bool first = mode == "DCR";
  const Term blocks =
      reshaped(c, x, first ? Shape{x.shape[0], n, n, depth, h, w} : Shape{x.shape[0], depth, n, n, h, w});
  const Term moved =
      c.apply("transpose", {blocks}, {{"axes", first ? Integers{0, 3, 4, 1, 5, 2} : Integers{0, 1, 4, 2, 5, 3}}});
  return {reshaped(c, moved, {x.shape[0], depth, h * n, w * n})};
}

std::vector<Term> space_to_depth(Call& c) {
  const Term& x = c.in(0);
  const std::int64_t n = c.integer("blocksize", 0);
  if (x.rank() != 4 || n < 1 || n > largest_block || x.shape[2] % n != 0 || x.shape[3] % n != 0)
    throw ModelError{"", "blocks of " + std::to_string(n) + " do not fit " + to_string(x.shape)};
  const std::int64_t h = x.shape[2] / n, w = x.shape[3] / n;
  const Term blocks = reshaped(c, x, {x.shape[0], x.shape[1], h, n, w, n});
  const Term moved = c.apply("transpose", {blocks}, {{"axes", Integers{0, 3, 5, 1, 2, 4}}});
  return {reshaped(c, moved, {x.shape[0], x.shape[1] * n * n, h, w})};
}

// Keeps a matrix above or below a diagonal and sets the rest to 0.
std::vector<Term> triangle(Call& c) {
  const Term x = c.in(0);
  if (x.rank() < 2) throw ModelError{"", "it takes matrices, not " + to_string(x.shape)};
  std::int64_t k = 0;
  if (c.has(std::size_t{1})) k = c.known_integer(1, "the diagonal");
  const std::int64_t rows = x.shape[x.shape.size() - 2], columns = x.shape.back();
  if (rows * columns > max_constant_elements) throw ModelError{"", "its matrices have too many elements"};
  c.b.spend(rows * columns);
  k = std::clamp(k, -rows, columns);
  Tensor mask(DType::boolean, {rows, columns});
  const bool upper = c.integer("upper", 1) != 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      mask.as<std::uint8_t>()[i * columns + j] = upper ? j - i >= k : j - i <= k;
  Tensor zero(x.dtype, {});
  return {c.apply("select", {c.b.constant(std::move(mask), "triangle"), x, c.b.constant(std::move(zero))})};
}

std::vector<Term> pad(Call& c) {
  const Term x = c.in(0);
  const std::string mode = c.text("mode", "constant");
  const char* attribute = c.version < 2 ? "paddings" : "pads";
  const Integers pads = c.version < 11 ? c.integers(attribute) : c.known_integers(1, "the pads");
  Integers axes;
  for (std::int64_t k = 0; k < x.rank(); ++k) axes.push_back(k);
  if (c.has(3)) axes = normalized(c.known_integers(3, "the axes"), x.rank());
  if (pads.size() != 2 * axes.size())
    throw ModelError{"",
                     "there are " + std::to_string(pads.size()) + " pads for " + std::to_string(axes.size()) + " axes"};
  Integers before(x.shape.size(), 0), after(x.shape.size(), 0);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    before[static_cast<std::size_t>(axes[k])] = pads[k];
    after[static_cast<std::size_t>(axes[k])] = pads[k + axes.size()];
  }
  // Pads an operand; negative pads remove elements.
  Term y = x;
  Integers starts(x.shape.size(), 0), stops(x.shape.begin(), x.shape.end());
  for (std::size_t k = 0; k < x.shape.size(); ++k) {
    starts[k] = std::min(x.shape[k], std::max<std::int64_t>(0, -before[k]));
    stops[k] = std::max(starts[k], x.shape[k] - std::max<std::int64_t>(0, -after[k]));
    before[k] = std::max<std::int64_t>(0, before[k]);
    after[k] = std::max<std::int64_t>(0, after[k]);
  }
  if (stops != x.shape || std::ranges::any_of(starts, [](auto v) { return v != 0; }))
    y = c.apply("slice", {y}, {{"starts", starts}, {"stops", stops}});
  const auto none = [](const Integers& v) { return std::ranges::all_of(v, [](auto n) { return n == 0; }); };
  if (none(before) && none(after)) return {y};
  Arguments arguments = {{"before", before}, {"after", after}};
  if (mode != "constant") {
    arguments.emplace_back("mode", mode);
    return {c.apply("pad", {y}, arguments)};
  }
  double value = c.version < 11 ? c.number("value", 0) : 0;
  if (c.has(2)) {
    const Tensor& t = c.known(2, "the value of the padding");
    if (t.elements() != 1) throw ModelError{"", "the value of the padding must be a scalar"};
    value = c.apply("cast", {c.b.constant(t)}, {{"dtype", DType::f64}}).value->as<double>()[0];
  }
  if (value != 0 || std::signbit(value)) arguments.emplace_back("value", value);
  return {c.apply("pad", {y}, arguments)};
}

}  // namespace

std::vector<Row> shape_rows() {
  return {
      {"Reshape", 1, 1, 2, 1, "shape:ints allowzero:i consumed_inputs:ints", reshape},
      {"Flatten", 1, 1, 1, 1, "axis:i", flatten},
      {"Squeeze", 1, 1, 2, 1, "axes:ints", squeeze},
      {"Unsqueeze", 1, 1, 2, 1, "axes:ints", unsqueeze},
      {"Transpose", 1, 1, 1, 1, "perm:ints", transpose},
      {"Concat", 1, 1, -1, 1, "axis:i", concat},
      {"Split", 1, 1, 2, -1, "axis:i split:ints num_outputs:i", split},
      {"Slice", 1, 1, 5, 1, "starts:ints ends:ints axes:ints", slice},
      {"Expand", 8, 2, 2, 1, "", expand},
      {"Tile", 1, 2, 3, 1, "", tile},
      {"Shape", 1, 1, 1, 1, "start:i end:i", shape_of},
      {"Size", 1, 1, 1, 1, "", size_of},
      {"Constant", 1, 0, 0, 1,
       "value:t value_int:i value_ints:ints value_float:f value_floats:floats value_string:s value_strings:texts",
       constant},
      {"ConstantOfShape", 9, 1, 1, 1, "value:t", constant_of_shape},
      {"Range", 11, 3, 3, 1, "", range},
      {"EyeLike", 9, 1, 1, 1, "dtype:i k:i", eye_like},
      {"DepthToSpace", 1, 1, 1, 1, "blocksize:i! mode:s", depth_to_space},
      {"SpaceToDepth", 1, 1, 1, 1, "blocksize:i! mode:s", space_to_depth},
      {"Trilu", 14, 1, 2, 1, "upper:i", triangle},
      {"Pad", 1, 1, 4, 1, "mode:s pads:ints paddings:ints value:f", pad},
  };
}

}  // namespace rml::onnx
