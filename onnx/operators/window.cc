// Imports convolutions and pooling. Layout and order of pads are those of the language's
// operators.
#include <algorithm>
#include <numeric>

#include "onnx/call.h"

namespace rml::onnx {

namespace {

using Integers = std::vector<std::int64_t>;

bool all(const Integers& v, std::int64_t n) {
  return std::ranges::all_of(v, [&](std::int64_t e) { return e == n; });
}

// The attributes that all windows have. `arguments` omits those that equal their defaults.
struct Window {
  std::int64_t axes = 0;  // number of spatial axes
  Integers strides, dilations, pads;
  std::int64_t same = 0;
};

Window window(const Call& c) {
  Window w;
  w.axes = c.in(0).rank() - 2;
  if (w.axes < 1 || w.axes > 3)
    throw ModelError{"", "it takes [batch, channels, one to three spatial axes], not " + to_string(c.in(0).shape)};
  const auto n = static_cast<std::size_t>(w.axes);
  w.strides = c.integers("strides", Integers(n, 1));
  w.dilations = c.integers("dilations", Integers(n, 1));
  const std::string automatic = c.text("auto_pad", "NOTSET");
  w.same = automatic == "SAME_UPPER" ? 1 : automatic == "SAME_LOWER" ? 2 : 0;
  if (w.same == 0 && automatic != "NOTSET" && automatic != "VALID" && !automatic.empty())
    throw ModelError{"", "auto_pad '" + automatic + "' is not known"};
  w.pads = automatic == "NOTSET" || automatic.empty() ? c.integers("pads", Integers(2 * n, 0)) : Integers(2 * n, 0);
  if (w.strides.size() != n || w.dilations.size() != n || w.pads.size() != 2 * n)
    throw ModelError{"", "strides, dilations and pads need one number for each of " + std::to_string(n) + " axes"};
  for (const Integers* list : {&w.strides, &w.dilations})
    if (std::ranges::any_of(*list, [](std::int64_t v) { return v < 1; }))
      throw ModelError{"", "a stride or dilation is less than 1"};
  return w;
}

Arguments arguments(const Window& w, bool pool) {
  Arguments list;
  if (pool || !all(w.strides, 1)) list.emplace_back("strides", w.strides);
  if (!all(w.dilations, 1)) list.emplace_back("dilations", w.dilations);
  if (!all(w.pads, 0)) list.emplace_back("padding", w.pads);
  if (w.same != 0) list.emplace_back("same", w.same);
  return list;
}

Term with_bias(const Call& c, const Term& y) {
  if (!c.has(2)) return y;
  Shape shape(static_cast<std::size_t>(y.rank() - 1), 1);
  shape[0] = y.shape[1];
  return c.apply("add", {y, c.apply("reshape", {c.in(2)}, {{"shape", Integers(shape)}})});
}

void check_kernel(const Call& c) {
  const Term& w = c.in(1);
  const Integers extents = c.integers("kernel_shape");
  if (w.rank() != c.in(0).rank())
    throw ModelError{"", "the kernel is " + to_string(w.shape) + ", x is " + to_string(c.in(0).shape)};
  if (c.has("kernel_shape") && !std::equal(extents.begin(), extents.end(), w.shape.begin() + 2, w.shape.end()))
    throw ModelError{"",
                     "kernel_shape " + to_string(extents) + " is not the shape of the kernel, " + to_string(w.shape)};
}

std::vector<Term> convolve(Call& c) {
  check_kernel(c);
  Arguments list = arguments(window(c), false);
  if (c.integer("group", 1) != 1) list.emplace_back("groups", c.integer("group", 1));
  return {with_bias(c, c.apply("conv", {c.in(0), c.in(1)}, list))};
}

// Computes the result without padding and then crops it by the pads. If output_padding or
// output_shape demands more elements, they are 0.
std::vector<Term> convolve_transposed(Call& c) {
  check_kernel(c);
  Window w = window(c);
  const Term& x = c.in(0);
  const Term& kernel = c.in(1);
  const auto n = static_cast<std::size_t>(w.axes);
  Integers extra = c.integers("output_padding", Integers(n, 0));
  if (extra.size() != n) throw ModelError{"", "output_padding needs one number for each axis"};
  Integers wanted = c.integers("output_shape");
  if (wanted.size() > n) wanted.erase(wanted.begin(), wanted.end() - static_cast<std::ptrdiff_t>(n));
  if (w.same != 0 && wanted.empty())
    for (std::size_t k = 0; k < n; ++k) wanted.push_back(x.shape[k + 2] * w.strides[k]);
  Integers beyond(n, 0);
  for (std::size_t k = 0; k < n; ++k) {
    if (!wanted.empty()) {
      const std::int64_t full =
          w.strides[k] * (x.shape[k + 2] - 1) + extra[k] + (kernel.shape[k + 2] - 1) * w.dilations[k] + 1;
      const std::int64_t cut = full - wanted.at(k), less = std::max<std::int64_t>(cut, 0) / 2;
      w.pads[k] = w.same == 1 ? less : std::max<std::int64_t>(cut, 0) - less;
      w.pads[k + n] = cut - w.pads[k];
    }
    w.pads[k + n] -= extra[k];
    beyond[k] = std::max<std::int64_t>(0, -w.pads[k + n]);
    w.pads[k + n] += beyond[k];
  }
  w.same = 0;
  Arguments list = arguments(w, false);
  if (c.integer("group", 1) != 1) list.emplace_back("groups", c.integer("group", 1));
  Term y = c.apply("conv_transpose", {x, kernel}, list);
  if (!all(beyond, 0)) {
    Integers before(n + 2, 0), after(n + 2, 0);
    std::ranges::copy(beyond, after.begin() + 2);
    y = c.apply("pad", {y}, {{"before", before}, {"after", after}});
  }
  return {with_bias(c, y)};
}

Arguments pool_arguments(const Call& c, const Window& w) {
  const Integers extents = c.integers("kernel_shape");
  if (static_cast<std::int64_t>(extents.size()) != w.axes)
    throw ModelError{"", "kernel_shape needs one number for each axis"};
  Arguments list = arguments(w, true);
  list.insert(list.begin(), {"window", extents});
  if (c.integer("ceil_mode", 0) != 0) list.emplace_back("ceil_mode", std::int64_t{1});
  return list;
}

// Converts indices that count the spatial axes row by row into indices that count them column by
// column.
Term by_columns(const Call& c, const Term& rows) {
  const Shape& x = c.in(0).shape;
  const auto number = [&](std::int64_t n) { return c.b.integers({n}); };
  std::int64_t plane = 1, stride = 1;
  for (std::size_t k = 2; k < x.size(); ++k) plane *= x[k];
  const Term all = c.b.shared(rows);
  Term place = c.apply("mul", {c.apply("div", {all, number(plane)}), number(plane)});
  std::int64_t below = plane;
  for (std::size_t k = 2; k < x.size(); ++k) {
    below /= x[k];
    const Term at = c.apply("mod", {c.apply("div", {all, number(below)}), number(x[k])});
    place = c.apply("add", {place, c.apply("mul", {at, number(stride)})});
    stride *= x[k];
  }
  return place;
}

std::vector<Term> max_pool(Call& c) {
  const Arguments list = pool_arguments(c, window(c));
  std::vector<Term> outputs = {c.apply("max_pool", {c.in(0)}, list)};
  if (!c.wants(1)) return outputs;
  if (c.version < 8) throw ModelError{"", "it has one output before version 8 of the operator set"};
  const Term indices = c.apply("max_pool_indices", {c.in(0)}, list);
  const bool columns = c.integer("storage_order", 0) != 0 && indices.elements() > 0;
  outputs.push_back(columns ? by_columns(c, indices) : indices);
  return outputs;
}

std::vector<Term> average_pool(Call& c) {
  Arguments list = pool_arguments(c, window(c));
  if (c.integer("count_include_pad", 0) != 0) list.emplace_back("count_include_pad", std::int64_t{1});
  return {c.apply("average_pool", {c.in(0)}, list)};
}

// The sum over a window is its mean with padding times its elements. With ceil_mode the last
// windows would count fewer elements.
std::vector<Term> norm_pool(Call& c) {
  const Term x = c.in(0);
  if (c.integer("ceil_mode", 0) != 0) throw ModelError{"", "ceil_mode is not supported"};
  const std::int64_t p = c.integer("p", 2);
  if (p < 1) throw ModelError{"", "the order of the norm must be at least 1, not " + std::to_string(p)};
  Arguments list = pool_arguments(c, window(c));
  list.emplace_back("count_include_pad", std::int64_t{1});
  const Integers extents = c.integers("kernel_shape");
  const auto elements = std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
  const Term powers = p == 1   ? c.apply("abs", {x})
                      : p == 2 ? c.apply("mul", {x, x})
                               : c.apply("pow", {c.apply("abs", {x}), c.b.scalar(x.dtype, static_cast<double>(p))});
  const Term sum =
      c.apply("mul", {c.apply("average_pool", {powers}, list), c.b.scalar(x.dtype, static_cast<double>(elements))});
  if (p == 1) return {sum};
  return {p == 2 ? c.apply("sqrt", {sum}) : c.apply("pow", {sum, c.b.scalar(x.dtype, 1.0 / static_cast<double>(p))})};
}

Arguments everywhere(const Call& c) {
  Integers axes;
  for (std::int64_t k = 2; k < c.in(0).rank(); ++k) axes.push_back(k);
  if (axes.empty()) throw ModelError{"", "it takes [batch, channels, spatial axes], not " + to_string(c.in(0).shape)};
  return {{"axis", axes}, {"keepdims", std::int64_t{1}}};
}

std::vector<Term> global_average(Call& c) { return {c.apply("mean", {c.in(0)}, everywhere(c))}; }
std::vector<Term> global_max(Call& c) { return {c.apply("max", {c.in(0)}, everywhere(c))}; }
std::vector<Term> global_norm(Call& c) {
  Arguments list = everywhere(c);
  list.emplace_back("ord", static_cast<double>(c.integer("p", 2)));
  return {c.apply("norm", {c.in(0)}, list)};
}

}  // namespace

std::vector<Row> window_rows() {
  return {
      {"Conv", 1, 2, 3, 1, "kernel_shape:ints strides:ints pads:ints auto_pad:s dilations:ints group:i", convolve},
      {"ConvTranspose", 1, 2, 3, 1,
       "kernel_shape:ints strides:ints pads:ints auto_pad:s dilations:ints group:i output_padding:ints "
       "output_shape:ints",
       convolve_transposed},
      {"MaxPool", 1, 1, 1, 2,
       "kernel_shape:ints! strides:ints pads:ints auto_pad:s ceil_mode:i dilations:ints storage_order:i", max_pool},
      {"AveragePool", 1, 1, 1, 1,
       "kernel_shape:ints! strides:ints pads:ints auto_pad:s ceil_mode:i dilations:ints count_include_pad:i",
       average_pool},
      {"LpPool", 1, 1, 1, 1, "kernel_shape:ints! strides:ints pads:ints auto_pad:s ceil_mode:i dilations:ints p:i",
       norm_pool},
      {"GlobalAveragePool", 1, 1, 1, 1, "", global_average},
      {"GlobalMaxPool", 1, 1, 1, 1, "", global_max},
      {"GlobalLpPool", 2, 1, 1, 1, "p:i", global_norm},
  };
}

}  // namespace rml::onnx
