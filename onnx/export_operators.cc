// Exports operators that work on whole tensors, with one function per kind of operator.
#include "onnx/export_operators.h"

#include <algorithm>
#include <numeric>

#include "onnx/operator_types.h"

namespace rml::onnx {

namespace {

using Integers = std::vector<std::int64_t>;

Integers all_axes(std::int64_t rank) {
  Integers axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Application application(const Site& s, std::vector<DType>& dtypes, std::vector<Shape>& shapes) {
  for (std::size_t k = 0; k < s.apply.operands.size(); ++k) dtypes.push_back(s.dtype(k)), shapes.push_back(s.shape(k));
  return {dtypes, shapes, s.apply.attributes, s.value.dtype};
}

// Returns the type in which ONNX's operator computes: 32 bits if it lacks shorter integers.
DType type_for(const char* op, DType type) {
  const bool fits = (types_of(op)->variable & bit(type)) != 0 || !is_integer(type) || byte_size(type) >= 4;
  return fits ? type : is_signed(type) ? DType::i32 : DType::u32;
}

std::int64_t axis(const Site& s, std::size_t attribute, std::size_t operand = 0) {
  return static_cast<std::int64_t>(*normalized_axis(s.integer(attribute), s.shape(operand).size()));
}

Writer same_elements() {
  return [](const Site& s) { return s.to.reshape(s.operands[0], s.value.shape); };
}
// Returns operand k as i64, which ONNX requires for indices.
std::string wide(const Site& s, std::size_t k) {
  return s.dtype(k) == DType::i64 ? s.operands[k] : s.to.cast(s.operands[k], DType::i64);
}

std::string transpose(const Site& s) {
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  const auto axes = transposed_axes(application(s, dtypes, shapes));
  return s.to.node("Transpose", s.operands, {{"perm", Integers(axes.begin(), axes.end())}});
}

std::string concat(const Site& s) { return s.to.node("Concat", s.operands, {{"axis", axis(s, 0)}}); }

std::string array(const Site& s) {
  std::vector<std::string> rows;
  for (std::size_t k = 0; k < s.operands.size(); ++k) {
    Shape row = s.value.shape;
    row[0] = 1;
    rows.push_back(s.to.reshape(s.operands[k], row));
  }
  return s.to.node("Concat", rows, {{"axis", std::int64_t{0}}});
}

std::string expanded(const Site& s) { return s.to.node("Expand", {s.operands[0], s.to.integers(s.value.shape)}); }

std::string slice(const Site& s) {
  const Shape& x = s.shape(0);
  if (x.empty()) return s.operands[0];
  const std::vector<Attribute> bounds = {s.attribute(0), s.attribute(1), s.attribute(2)};
  const auto ranges = std::get<0>(slice_ranges(x, bounds));
  Integers starts, ends, steps;
  for (const SliceRange& range : ranges) {
    const std::int64_t last = range.start + range.step * (range.count - 1);
    starts.push_back(range.start);
    ends.push_back(range.count == 0 ? range.start : range.step > 0 ? last + 1 : last == 0 ? INT64_MIN : last - 1);
    steps.push_back(range.step);
  }
  return s.to.node("Slice", {s.operands[0], s.to.integers(starts), s.to.integers(ends),
                             s.to.integers(all_axes(s.rank())), s.to.integers(steps)});
}

std::string index(const Site& s) {
  std::string x = s.operands[0];
  for (std::size_t k = 1; k < s.operands.size(); ++k)
    x = s.to.node("Gather", {x, wide(s, k)}, {{"axis", std::int64_t{0}}});
  return x;
}

// Returns the axes of a reduction, whose attributes are axis and keepdims.
Integers reduced(const Site& s) {
  Integers axes;
  const auto which = *reduced_axes(s.attribute(0), s.shape(0).size());
  for (std::size_t k = 0; k < which.size(); ++k)
    if (which[k]) axes.push_back(static_cast<std::int64_t>(k));
  return axes;
}
std::string reduce(const Site& s, const char* op, const std::string& x) {
  const Integers axes = reduced(s);
  if (axes.empty()) return s.to.reshape(x, s.value.shape);
  const Given keep{"keepdims", std::int64_t{0}};
  const std::string y = std::string_view(op) == "ReduceSum" ? s.node(op, x, {s.to.integers(axes)}, {keep})
                                                            : s.node(op, x, {}, {{"axes", axes}, keep});
  return s.to.reshape(y, s.value.shape);
}
// Writes a reduction that wraps. Runtimes do not wrap ONNX's integer sums and products, so a Scan
// adds or multiplies one element after the other.
std::string wrapping(const Site& s, const char* op, const Integers& axes) {
  Integers order = axes, rows{1};
  Shape rest;
  for (std::size_t k = 0; k < s.shape(0).size(); ++k) {
    const bool gone = std::ranges::find(axes, static_cast<std::int64_t>(k)) != axes.end();
    if (gone) rows[0] *= s.shape(0)[k];
    if (!gone) order.push_back(static_cast<std::int64_t>(k)), rest.push_back(s.shape(0)[k]);
  }
  rows.insert(rows.end(), rest.begin(), rest.end());
  const DType type = s.dtype(0), wide = type_for("ReduceSum", type);
  const std::string x = s.to.cast(s.to.reshape(s.to.node("Transpose", {s.operands[0]}, {{"perm", order}}), rows), wide);
  const std::string begin = s.to.scalar(wide, std::string_view(op) == "Mul" ? 1 : 0);
  ModelWriter body("reduction", s.to);
  const std::string so_far = s.to.fresh("so_far"), element = s.to.fresh("element");
  body.input(so_far, wide, rest);
  body.input(element, wide, rest);
  body.output(s.to.fresh("result"), body.node(op, {so_far, element}), wide, rest);
  const std::string first = s.to.node("Expand", {begin, s.to.integers(rest)});
  const std::vector<Given> attributes{{"body", &body}, {"num_scan_inputs", std::int64_t{1}}};
  return s.to.cast(s.to.reshape(s.to.nodes("Scan", {first, x}, attributes, 1, {wide})[0], s.value.shape), type);
}
Writer sum_or_product(const char* op, const char* of_integers) {
  return [op, of_integers](const Site& s) {
    const Integers axes = reduced(s);
    return is_float(s.dtype(0)) || axes.empty() ? reduce(s, op, s.operands[0]) : wrapping(s, of_integers, axes);
  };
}
Writer reduction(const char* op) {
  return [op](const Site& s) { return reduce(s, op, s.operands[0]); };
}
Writer reduction_of_truth(const char* op) {
  return [op](const Site& s) { return s.to.cast(reduce(s, op, s.to.cast(s.operands[0], DType::i32)), DType::boolean); };
}
std::string norm(const Site& s) {
  if (s.attribute(2).number == 1) return reduce(s, "ReduceL1", s.operands[0]);
  if (s.attribute(2).number == 2) return reduce(s, "ReduceL2", s.operands[0]);
  throw Refused{"`norm` of this order has no counterpart in ONNX"};
}

Writer extreme(const char* op) {
  return [op](const Site& s) {
    std::string x = s.operands[0];
    std::int64_t along = 0;
    if (s.attribute(0).given && s.attribute(0).integers.size() == 1) {
      along = axis(s, 0);
    } else if (s.attribute(0).given && s.rank() != 1) {
      throw Refused{"this operator along several axes has no counterpart in ONNX"};
    } else {
      x = s.to.reshape(x, {*element_count(s.shape(0))});
    }
    const std::string y =
        s.to.node(op, {x}, {{"axis", along}, {"keepdims", std::int64_t{0}}, {"select_last_index", s.integer(2)}});
    return s.to.reshape(s.to.cast(y, DType::i32), s.value.shape);
  };
}

std::string sum_to(const Site& s) {
  const Shape &x = s.shape(0), &y = s.value.shape;
  const std::size_t added = x.size() - y.size();
  Integers axes;
  for (std::size_t k = 0; k < x.size(); ++k)
    if (k < added || y[k - added] != x[k]) axes.push_back(static_cast<std::int64_t>(k));
  if (axes.empty()) return s.operands[0];
  if (is_integer(s.dtype(0))) return wrapping(s, "Add", axes);
  const std::string sum = s.to.node("ReduceSum", {s.operands[0], s.to.integers(axes)}, {{"keepdims", std::int64_t{0}}});
  return s.to.reshape(sum, y);
}

// Writes softmax or log_softmax. ONNX has both along one axis only.
std::string softmax(const Site& s, bool logarithm) {
  const Integers axes = reduced(s);
  if (axes.size() == 1) return s.to.node(logarithm ? "LogSoftmax" : "Softmax", s.operands, {{"axis", axes[0]}});
  const std::string most = s.to.node("ReduceMax", s.operands, {{"axes", axes}, {"keepdims", std::int64_t{1}}});
  const std::string x = s.to.node("Sub", {s.operands[0], most}), powers = s.to.node("Exp", {x});
  const std::string sum = s.to.node("ReduceSum", {powers, s.to.integers(axes)}, {{"keepdims", std::int64_t{1}}});
  return logarithm ? s.to.node("Sub", {x, s.to.node("Log", {sum})}) : s.to.node("Div", {powers, sum});
}

std::string matmul(const Site& s) { return s.node("MatMul", s.operands[0], {s.operands[1]}); }

std::string outer(const Site& s) {
  Shape column = s.shape(0), row = s.shape(1);
  if (column.size() != 1 || row.size() != 1) throw Refused{"`outer` of tensors has no counterpart in ONNX"};
  column.push_back(1);
  return s.to.node("Mul", {s.to.reshape(s.operands[0], column), s.operands[1]});
}
std::string dot(const Site& s) {
  if (s.rank(0) != 1 || s.rank(1) != 1) throw Refused{"`dot` of tensors has no counterpart in ONNX"};
  return matmul(s);
}

// A class out of range gives a row of zeros. ONNX would count it from the end or refuse it.
std::string one_hot(const Site& s) {
  const std::int64_t depth = s.integer(0);
  Tensor classes(DType::i64, {depth});
  for (std::int64_t k = 0; k < depth; ++k) classes.as<std::int64_t>()[k] = k;
  Shape column = s.shape(0);
  column.push_back(1);
  const std::string hot = s.to.node("Equal", {s.to.reshape(wide(s, 0), column), s.to.constant(classes)});
  return s.to.cast(hot, s.value.dtype);
}

std::string pad(const Site& s) {
  const std::string& mode = s.attribute(2).text;
  if (mode != "constant" && mode != "edge" && mode != "reflect")
    throw Refused{"`pad` with mode \"" + mode + "\" has no counterpart in ONNX"};
  Integers widths;
  for (const std::size_t side : {0, 1})
    for (std::size_t k = 0; k < s.shape(0).size(); ++k) {
      const Attribute& a = s.attribute(side);
      widths.push_back(a.scalar ? a.integers[0] : k < a.integers.size() ? a.integers[k] : 0);
    }
  return s.to.node("Pad", {s.operands[0], s.to.integers(widths), s.to.scalar(s.dtype(0), s.attribute(3).number)},
                   {{"mode", mode}});
}

std::string tile(const Site& s) {
  Integers reps = s.attribute(0).integers;
  Shape x = s.shape(0);
  while (x.size() < reps.size()) x.insert(x.begin(), 1);
  while (reps.size() < x.size()) reps.insert(reps.begin(), 1);
  return s.to.node("Tile", {s.to.reshape(s.operands[0], x), s.to.integers(reps)});
}

std::string flip(const Site& s) {
  Integers starts, ends, steps;
  const Integers axes = reduced(s);
  for (std::size_t k = 0; k < axes.size(); ++k) starts.push_back(-1), ends.push_back(INT64_MIN), steps.push_back(-1);
  if (axes.empty()) return s.operands[0];
  return s.to.node(
      "Slice", {s.operands[0], s.to.integers(starts), s.to.integers(ends), s.to.integers(axes), s.to.integers(steps)});
}

// Writes `take`. Without an axis, it indexes the elements in row-major order.
std::string take(const Site& s) {
  std::string x = s.operands[0];
  if (!s.attribute(0).given) x = s.to.reshape(x, {*element_count(s.shape(0))});
  return s.to.node("Gather", {x, wide(s, 1)}, {{"axis", s.attribute(0).given ? axis(s, 0) : std::int64_t{0}}});
}
std::string gather_elements(const Site& s) {
  return s.to.node("GatherElements", {s.operands[0], wide(s, 1)}, {{"axis", axis(s, 0)}});
}
std::string gather_nd(const Site& s) {
  return s.to.node("GatherND", {s.operands[0], wide(s, 1)}, {{"batch_dims", s.integer(0)}});
}
std::string reduction_mode(const std::string& mode) {
  if (mode == "none" || mode == "add" || mode == "mul") return mode;
  throw Refused{"the reduction \"" + mode + "\" has no counterpart in ONNX's operator set 17"};
}
std::string scatter_elements(const Site& s) {
  return s.to.node("ScatterElements", {s.operands[0], wide(s, 1), s.operands[2]},
                   {{"axis", axis(s, 0)}, {"reduction", reduction_mode(s.attribute(1).text)}});
}
std::string scatter_nd(const Site& s) {
  if (s.integer(0) != 0) throw Refused{"`scatter_nd` with batch_dims has no counterpart in ONNX"};
  return s.to.node("ScatterND", {s.operands[0], wide(s, 1), s.operands[2]},
                   {{"reduction", reduction_mode(s.attribute(1).text)}});
}

std::string cumsum(const Site& s) {
  std::string x = s.operands[0];
  std::int64_t along = 0;
  if (s.attribute(0).given)
    along = axis(s, 0);
  else
    x = s.to.reshape(x, s.value.shape);
  Tensor at = Tensor::scalar<std::int64_t>(DType::i64, along);
  return s.node("CumSum", x, {s.to.constant(at)}, {{"exclusive", s.integer(1)}, {"reverse", s.integer(2)}});
}

std::string top(const Site& s, std::int64_t k, std::int64_t along, bool largest, bool places) {
  const std::string y =
      s.to.node("TopK", {s.operands[0], s.to.integers({k})},
                {{"axis", along}, {"largest", std::int64_t{largest}}, {"sorted", std::int64_t{1}}}, 2, places ? 1 : 0);
  return places ? s.to.cast(y, DType::i32) : y;
}
Writer sorted(bool places) {
  return [places](const Site& s) {
    const std::int64_t along = axis(s, 0);
    return top(s, s.shape(0)[static_cast<std::size_t>(along)], along, s.integer(1) != 0, places);
  };
}
std::string argtopk(const Site& s) { return top(s, s.integer(0), axis(s, 1), s.integer(2) != 0, true); }

// Writes the attributes of windows, which begin at `first`: strides, padding, dilations, same.
std::vector<Given> window(const Site& s, std::size_t first, std::size_t axes, bool dilations = true) {
  const auto list = [&](std::size_t attribute, std::size_t count, std::int64_t fallback) {
    const Attribute& a = s.attribute(attribute);
    if (!a.given) return Integers(count, fallback);
    if (a.scalar || a.integers.size() == 1) return Integers(count, a.integers[0]);
    Integers values = a.integers;
    if (values.size() * 2 == count) values.insert(values.end(), a.integers.begin(), a.integers.end());
    return values;
  };
  std::vector<Given> given{{"strides", list(first, axes, 1)}};
  if (dilations)
    given.push_back({"dilations", list(first + 2, axes, 1)});
  else if (std::ranges::any_of(list(first + 2, axes, 1), [](std::int64_t d) { return d != 1; }))
    throw Refused{"dilations of this window have no counterpart in ONNX's operator set 17"};
  const std::int64_t same = s.integer(first + 3);
  if (same != 0)
    given.push_back({"auto_pad", std::string(same == 1 ? "SAME_UPPER" : "SAME_LOWER")});
  else
    given.push_back({"pads", list(first + 1, 2 * axes, 0)});
  return given;
}
std::string conv(const Site& s) {
  std::vector<Given> given = window(s, 0, s.shape(0).size() - 2);
  given.push_back({"group", s.integer(4)});
  return s.to.node("Conv", s.operands, given);
}
std::string conv_transpose(const Site& s) {
  const std::size_t axes = s.shape(0).size() - 2;
  std::vector<Given> given = window(s, 0, axes);
  given.push_back({"group", s.integer(4)});
  Integers extra = s.attribute(5).integers;
  if (extra.size() == 1) extra = Integers(axes, extra[0]);
  given.push_back({"output_padding", extra});
  return s.to.node("ConvTranspose", s.operands, given);
}
std::vector<Given> pooling(const Site& s, bool dilations) {
  const std::size_t axes = s.shape(0).size() - 2;
  std::vector<Given> given = window(s, 1, axes, dilations);
  Integers extents = s.attribute(0).integers;
  if (extents.size() == 1) extents = Integers(axes, extents[0]);
  if (!s.attribute(1).given) given[0].value = extents;  // writes the default: windows that do not overlap
  given.push_back({"kernel_shape", extents});
  const bool ceil = s.integer(5) != 0;
  for (std::size_t k = 0; ceil && s.integer(4) == 0 && k < axes; ++k) {
    // In this version ONNX counts a last window that would begin in the padding, which the
    // language does not.
    const auto list = [&](std::size_t g) { return std::get<Integers>(given[g].value); };
    const std::int64_t dilation = dilations ? list(1)[k] : 1, stride = list(0)[k];
    const Integers pads = list(dilations ? 2 : 1);
    const std::int64_t room = s.shape(0)[k + 2] + pads[k] + pads[k + axes] - dilation * (extents[k] - 1) - 1;
    if ((room + stride - 1) / stride + 1 != s.value.shape[k + 2])
      throw Refused{"ceil_mode with a last window in the padding has no counterpart in ONNX's operator set 17"};
  }
  given.push_back({"ceil_mode", std::int64_t{ceil}});
  return given;
}
// ONNX pools only 8-bit integers. An f64 holds integers of up to 32 bits exactly.
std::string pooled(const Site& s) {
  const bool held = is_integer(s.dtype(0)) && byte_size(s.dtype(0)) > 1 && byte_size(s.dtype(0)) <= 4;
  return held ? s.to.cast(s.operands[0], DType::f64) : s.operands[0];
}
std::string max_pool(const Site& s) {
  return s.to.cast(s.to.node("MaxPool", {pooled(s)}, pooling(s, true)), s.value.dtype);
}
std::string max_pool_indices(const Site& s) { return s.to.node("MaxPool", {pooled(s)}, pooling(s, true), 2, 1); }
std::string average_pool(const Site& s) {
  std::vector<Given> given = pooling(s, false);
  given.push_back({"count_include_pad", s.integer(6)});
  return s.to.node("AveragePool", s.operands, given);
}

std::string grid_sample(const Site& s) {
  const std::string& mode = s.attribute(0).text;
  if (s.rank() != 4) throw Refused{"`grid_sample` of other than images has no counterpart in ONNX's operator set 17"};
  return s.to.node("GridSample", s.operands,
                   {{"mode", mode == "linear"  ? std::string("bilinear")
                             : mode == "cubic" ? std::string("bicubic")
                                               : mode},
                    {"padding_mode", s.attribute(1).text},
                    {"align_corners", s.integer(2)}});
}

// Runtimes resize integers through floats, so the nearest elements are gathered instead; they
// follow from the shapes.
std::string resize_integers(const Site& s, std::int64_t along) {
  if (s.attribute(3).text == "crop") throw Refused{"`resize` of integers to a part has no counterpart in ONNX"};
  const std::int64_t extent = s.shape(0)[static_cast<std::size_t>(along)];
  Tensor places(DType::f64, {extent});
  std::iota(places.as<double>(), places.as<double>() + extent, 0.0);
  std::vector<Attribute> attributes = s.apply.attributes;
  attributes[0].integers = {0};
  const std::vector<DType> dtypes = {DType::f64};
  const std::vector<Shape> shapes = {{extent}};
  Tensor nearest(DType::f64, {s.value.shape[static_cast<std::size_t>(along)]});
  const std::vector<const Tensor*> operands = {&places};
  operators()[s.apply.op].evaluate({dtypes, shapes, attributes, DType::f64}, {}, operands, nearest);
  Integers at;
  for (std::int64_t k = 0; k < nearest.elements(); ++k)
    at.push_back(static_cast<std::int64_t>(nearest.as<double>()[k]));
  return s.to.node("Gather", {s.operands[0], s.to.integers(at)}, {{"axis", along}});
}

// Attributes: axis, size, mode, coordinates, scale, start, end, cubic, antialias,
// exclude_outside, value.
std::string resize(const Site& s) {
  const auto along = static_cast<std::size_t>(axis(s, 0));
  std::string mode = s.attribute(2).text, coordinates = s.attribute(3).text, rounding = "round_prefer_floor";
  if (s.integer(8) != 0 || coordinates == "half_pixel_symmetric")
    throw Refused{"this way to resize has no counterpart in ONNX's operator set 17"};
  if (is_integer(s.dtype(0))) return resize_integers(s, static_cast<std::int64_t>(along));
  if (mode == "nearest_round_up") rounding = "round_prefer_ceil";
  if (mode == "nearest_floor" || mode == "nearest_ceil") rounding = mode.substr(8);
  if (mode.starts_with("nearest")) mode = "nearest";
  std::string region;
  if (coordinates == "crop") {
    coordinates = "tf_crop_and_resize";
    const std::size_t rank = s.shape(0).size();
    Tensor bounds(DType::f32, {static_cast<std::int64_t>(2 * rank)});
    auto* at = bounds.as<float>();
    std::fill_n(at + rank, rank, 1.0F);
    at[along] = static_cast<float>(s.attribute(5).number);
    at[along + rank] = static_cast<float>(s.attribute(6).number);
    region = s.to.constant(bounds);
  }
  std::vector<Given> given{{"mode", mode}, {"coordinate_transformation_mode", coordinates}};
  if (mode == "nearest") given.push_back({"nearest_mode", rounding});
  if (mode == "cubic") given.push_back({"cubic_coeff_a", static_cast<float>(s.attribute(7).number)});
  given.push_back({"exclude_outside", s.integer(9)});
  if (!region.empty()) given.push_back({"extrapolation_value", static_cast<float>(s.attribute(10).number)});
  const double scale = s.attribute(4).number;
  if (scale == 0) return s.to.node("Resize", {s.operands[0], region, "", s.to.integers(s.value.shape)}, given);
  Tensor scales(DType::f32, {s.rank()});
  std::fill_n(scales.as<float>(), s.rank(), 1.0F);
  scales.as<float>()[along] = static_cast<float>(scale);
  return s.to.node("Resize", {s.operands[0], region, s.to.constant(scales)}, given);
}

const Writers& writers() {
  static const Writers all = {
      {"matmul", matmul},
      {"outer", outer},
      {"dot", dot},
      {"as_row", same_elements()},
      {"as_column", same_elements()},
      {"reshape", same_elements()},
      {"expand_dims", same_elements()},
      {"squeeze", same_elements()},
      {"transpose", transpose},
      {"broadcast_to", expanded},
      {"full", expanded},
      {"concat", concat},
      {"array", array},
      {"index", index},
      {"slice", slice},
      {"sum", sum_or_product("ReduceSum", "Add")},
      {"mean", reduction("ReduceMean")},
      {"min", reduction("ReduceMin")},
      {"max", reduction("ReduceMax")},
      {"prod", sum_or_product("ReduceProd", "Mul")},
      {"logsumexp", reduction("ReduceLogSumExp")},
      {"all", reduction_of_truth("ReduceMin")},
      {"any", reduction_of_truth("ReduceMax")},
      {"norm", norm},
      {"argmax", extreme("ArgMax")},
      {"argmin", extreme("ArgMin")},
      {"sum_to", sum_to},
      {"softmax", [](const Site& s) { return softmax(s, false); }},
      {"log_softmax", [](const Site& s) { return softmax(s, true); }},
      {"one_hot", one_hot},
      {"pad", pad},
      {"tile", tile},
      {"flip", flip},
      {"take", take},
      {"gather_elements", gather_elements},
      {"gather_nd", gather_nd},
      {"scatter_elements", scatter_elements},
      {"scatter_nd", scatter_nd},
      {"sort", sorted(false)},
      {"argsort", sorted(true)},
      {"argtopk", argtopk},
      {"cumsum", cumsum},
      {"einsum", [](const Site& s) { return s.to.node("Einsum", s.operands, {{"equation", s.attribute(0).text}}); }},
      {"conv", conv},
      {"conv_transpose", conv_transpose},
      {"max_pool", max_pool},
      {"max_pool_indices", max_pool_indices},
      {"average_pool", average_pool},
      {"grid_sample", grid_sample},
      {"resize", resize},
      {"det", same_node("Det")},
  };
  return all;
}

}  // namespace

const Writer* writer_of(std::string_view op) {
  for (const Writers* all : {&element_writers(), &writers()})
    if (const auto found = all->find(op); found != all->end()) return &found->second;
  return nullptr;
}

const Tensor* Site::constant(std::size_t k) const {
  const auto* c = std::get_if<core::Const>(&core[apply.operands[k]].rhs);
  return c == nullptr ? nullptr : &c->value;
}

std::string Site::node(const char* op, const std::string& x, const std::vector<std::string>& more,
                       const std::vector<Given>& attributes) const {
  const DType type = to.type_of(x), wide = type_for(op, type);
  std::vector<std::string> all = {to.cast(x, wide)};
  for (const std::string& y : more) all.push_back(to.type_of(y) == type ? to.cast(y, wide) : y);
  return to.cast(to.node(op, all, attributes), type);
}

std::optional<Tensor> without_elements(const Site& s) {
  const auto empty = [](const Shape& shape) { return std::ranges::find(shape, 0) != shape.end(); };
  if (empty(s.value.shape)) return Tensor(s.value.dtype, s.value.shape);
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  const Application applied = application(s, dtypes, shapes);
  if (shapes.empty() || !std::ranges::all_of(shapes, empty)) return std::nullopt;
  Tensor result(s.value.dtype, s.value.shape);
  std::vector<Tensor> none;
  for (std::size_t k = 0; k < shapes.size(); ++k) none.emplace_back(dtypes[k], shapes[k]);
  std::vector<const Tensor*> operands;
  for (const Tensor& t : none) operands.push_back(&t);
  if (operators()[s.apply.op].evaluate(applied, {}, operands, result).kind != 0) return std::nullopt;
  return result;
}

}  // namespace rml::onnx
