// Computes windows from attributes, and reports errors in the user's words.
#include "semantics/operators/windows.h"

namespace rml {

namespace {

using window::Integers, window::Problem, window::Windows;

Integers integers_of(const Attribute& a) {
  return a.given ? Integers{a.integers.data(), static_cast<std::int64_t>(a.integers.size())} : Integers{};
}

window::Request request(Integers sizes, std::span<const Attribute> attributes) {
  window::Request r;
  r.sizes = sizes;
  r.strides = integers_of(attributes[0]);
  r.padding = integers_of(attributes[1]);
  r.dilations = integers_of(attributes[2]);
  r.same = attributes[3].integers[0];
  return r;
}

std::string listed(Integers values, std::string_view otherwise) {
  if (values.count == -1) return std::string(otherwise);
  return to_string(std::vector<std::int64_t>(values.data, values.data + values.count));
}

std::string rank_error(const Shape& x) {
  return "windows slide over [batch, channels, one to three spatial axes], not " + to_string(x);
}

std::string error(Problem problem, const window::Request& r, const Shape& x) {
  const std::string axes = std::to_string(x.size() - 2) + (x.size() == 3 ? " spatial axis" : " spatial axes");
  switch (problem) {
    case Problem::sizes:
      return "a window of " + listed(r.sizes, "no") + " elements along " + axes +
             ": it takes one positive integer for all, or one for each";
    case Problem::strides:
      return "strides " + listed(r.strides, "1") + " along " + axes +
             ": they are one positive integer for all, or one for each";
    case Problem::dilations:
      return "dilations " + listed(r.dilations, "1") + " along " + axes +
             ": they are one positive integer for all, or one for each";
    case Problem::padding:
      return "padding " + listed(r.padding, "0") + " along " + axes +
             ": it is one integer, not negative, for all, one for each, or all beginnings and then all ends";
    case Problem::same:
      return "same is 0, 1 (more at the end) or 2 (more at the beginning), not " + std::to_string(r.same);
    case Problem::same_and_padding:
      return "padding is either given or chosen by same, not both";
    default:
      return "a window of " + listed(r.sizes, "1") + " elements, dilated by " + listed(r.dilations, "1") +
             ", does not fit into " + to_string(x) + " with padding " + listed(r.padding, "0");
  }
}

WindowsResult read(const window::Request& r, const Shape& whole) {
  if (whole.size() < 3 || whole.size() > 2 + window::max_axes) return rank_error(whole);
  Windows w;
  const Problem problem = window::read(r, whole.data() + 2, static_cast<int>(whole.size()) - 2, w);
  if (problem != Problem::none) return error(problem, r, whole);
  return w;
}

ShapeResult with_extents(const Windows& w, std::size_t axes, Shape shape, std::int64_t window::Axis::* extent) {
  for (std::size_t k = window::max_axes - axes; k < window::max_axes; ++k) shape.push_back(w.axis[k].*extent);
  return checked_shape(std::move(shape));
}

Integers sizes_of(const Shape& filter) { return {filter.data() + 2, static_cast<std::int64_t>(filter.size()) - 2}; }

}  // namespace

WindowsResult windows_over(const Shape& whole, Integers sizes, std::span<const Attribute> attributes) {
  return read(request(sizes, attributes), whole);
}

WindowsResult filter_windows(const Shape& x, const Shape& filter, std::span<const Attribute> attributes) {
  if (x.size() < 3 || x.size() > 2 + window::max_axes) return rank_error(x);
  if (filter.size() != x.size())
    return "a filter is of shape [channels out, channels in, window…], of the rank of " + to_string(x) + ", not " +
           to_string(filter);
  return windows_over(x, sizes_of(filter), attributes);
}

WindowsResult transposed_windows(const Shape& from, const Shape& filter, std::span<const Attribute> attributes,
                                 const Attribute& output_padding) {
  if (from.size() < 3 || from.size() > 2 + window::max_axes) return rank_error(from);
  if (filter.size() != from.size())
    return "a filter is of shape [channels in, channels out, window…], of the rank of " + to_string(from) + ", not " +
           to_string(filter);
  const window::Request r = request(sizes_of(filter), attributes);
  Windows w;
  const Problem problem =
      window::read_transposed(r, integers_of(output_padding), from.data() + 2, static_cast<int>(from.size()) - 2, w);
  if (problem == Problem::padding && integers_of(output_padding).count != -1)
    return "output_padding " + to_string(output_padding.integers) + " and strides " + listed(r.strides, "1") +
           ": it is one integer for all axes, or one for each, from 0 up to, without, the stride";
  if (problem == Problem::too_large)
    return "padding " + listed(r.padding, "0") + " leaves nothing of the transposed convolution of " + to_string(from) +
           " by " + to_string(filter);
  if (problem != Problem::none) return error(problem, r, from);
  return w;
}

namespace {

// The reason for which a window covers only padding: its elements are on both sides of the axis,
// or on one.
std::string only_padding(const window::Axis& a, std::int64_t o, const window::Request& r) {
  const bool apart = a.at(o, 0) < 0 && a.at(o, a.size - 1) >= a.in;
  if (apart || r.same != 0)
    return "dilations " + listed(r.dilations, "1") + " are too large, and put its elements on either side of the axis";
  return "padding " + listed(r.padding, "0") + " is too large";
}

}  // namespace

WindowsResult pool_windows(const Shape& x, std::span<const Attribute> attributes) {
  constexpr std::string_view flags[] = {"ceil_mode", "count_include_pad"};
  for (std::size_t k = 5; k < attributes.size(); ++k)
    if (std::string error = flag_error(attributes[k], flags[k - 5]); !error.empty()) return error;
  window::Request r = request(integers_of(attributes[0]), attributes.subspan(1));
  r.ceil_mode = attributes[5].integers[0] != 0;
  r.strides_as_sizes = true;
  WindowsResult result = read(r, x);
  const auto* w = std::get_if<Windows>(&result);
  if (w == nullptr) return result;
  for (const window::Axis& a : w->axis) {
    for (std::int64_t o = 0; o < a.out && a.in > 0; ++o) {
      if (a.covered(o) == 0)
        return "window " + std::to_string(o) + " of " + std::to_string(a.out) + " along an axis of " + to_string(x) +
               " covers only padding: " + only_padding(a, o, r);
    }
  }
  if (w->inputs() == 0 && x[0] * x[1] > 0) return "no window covers an element of " + to_string(x);
  return result;
}

ShapeResult outputs_of(const Windows& w, std::size_t axes, std::int64_t batch, std::int64_t channels) {
  return with_extents(w, axes, {batch, channels}, &window::Axis::out);
}

ShapeResult inputs_of(const Windows& w, std::size_t axes, std::int64_t batch, std::int64_t channels) {
  return with_extents(w, axes, {batch, channels}, &window::Axis::in);
}

Convolution convolution_of(WindowForm form, const Application& app, const Shape& result) {
  const auto& shapes = app.operand_shapes;
  const bool transposed = form == WindowForm::transposed_convolution, forward = form == WindowForm::convolution;
  const auto attributes = app.attributes.subspan(forward || transposed ? 0 : 1);
  const Shape& x = form == WindowForm::input_gradient || transposed ? result : shapes[0];
  const Shape& filter = form == WindowForm::filter_gradient ? result : shapes[1];
  Convolution c;
  c.windows = std::get<Windows>(transposed ? transposed_windows(shapes[0], filter, attributes, attributes[5])
                                           : filter_windows(x, filter, attributes));
  c.batch = x[0];
  c.groups = attributes[4].integers[0];
  c.in = filter[1];
  c.out = filter[0] / c.groups;
  return c;
}

}  // namespace rml
