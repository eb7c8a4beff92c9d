// Interprets the attributes of shape-changing operators once shapes are known.
//
// Negative axes count from the end. Shape rules, kernels and code generation all use these
// functions for axis lists, permutations and slice bounds. Errors are in the user's words.
#include <algorithm>
#include <cstdint>

#include "semantics/operators/rules.h"

namespace rml {

std::optional<std::size_t> normalized_axis(std::int64_t axis, std::size_t rank) {
  const auto extent = static_cast<std::int64_t>(rank);
  if (axis < -extent || axis >= extent) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + extent : axis);
}

std::vector<std::size_t> transposed_axes(const Application& app) {
  const std::size_t rank = app.operand_shapes[0].size();
  const Attribute& axes = app.attributes[0];
  std::vector<std::size_t> order(rank);
  for (std::size_t k = 0; k < rank; ++k) order[k] = axes.given ? k : rank - 1 - k;
  if (!axes.given) return order;
  const std::size_t kept = rank - axes.integers.size();  // if fewer axes are given, the leading axes remain unchanged
  for (std::size_t k = kept; k < rank; ++k) order[k] = *normalized_axis(axes.integers[k - kept], rank);
  if (app.attributes[1].integers[0] == 0) return order;
  std::vector<std::size_t> inverse(rank);
  for (std::size_t k = 0; k < rank; ++k) inverse[order[k]] = k;
  return inverse;
}

std::optional<std::vector<bool>> reduced_axes(const Attribute& axis, std::size_t rank) {
  if (!axis.given) return std::vector<bool>(rank, true);
  std::vector<bool> reduced(rank, false);
  for (const std::int64_t a : axis.integers) {
    const auto k = normalized_axis(a, rank);
    if (!k || reduced[*k]) return std::nullopt;
    reduced[*k] = true;
  }
  return reduced;
}

std::variant<SliceRange, std::string> slice_range(const Shape& whole, std::size_t axis,
                                                  std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                                                  std::int64_t step) {
  const std::int64_t extent = whole[axis];
  const auto text = [](std::optional<std::int64_t> bound) { return bound ? std::to_string(*bound) : std::string(); };
  const std::string written = text(start) + ":" + text(stop) + (step == 1 ? "" : ":" + std::to_string(step));
  if (step == 0) return written + " never moves: a step of 1 takes every element, one of -1 every element backward";
  const bool forward = step > 0;
  // The range of a bound: an element, or the position after the last one in the direction of the
  // slice.
  const std::int64_t low = forward ? 0 : -1, high = forward ? extent : extent - 1;
  const auto place = [&](std::optional<std::int64_t> bound, std::int64_t otherwise) {
    return bound ? *bound + (*bound < 0 ? extent : 0) : otherwise;
  };
  const std::int64_t from = place(start, forward ? low : high), to = place(stop, forward ? high : low);
  if (std::min(from, to) < low || std::max(from, to) > high)
    return written + " is out of range for axis " + std::to_string(axis) + " of " + to_string(whole) +
           (forward ? "" : ": backward the first element is " + std::to_string(high) + ", or none is written");
  if (forward ? from > to : from < to)
    return written + " ends before it begins" + (forward ? "" : ": backward the first bound is the greater one");
  const auto distance = static_cast<std::uint64_t>(forward ? to - from : from - to);
  const std::uint64_t stride = forward ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
  const auto count = static_cast<std::int64_t>(distance == 0 ? 0 : (distance - 1) / stride + 1);
  // With fewer than two elements the step does not matter. A start before the first element is
  // moved to 0.
  return SliceRange{count == 0 ? std::max<std::int64_t>(from, 0) : from, count, count > 1 ? step : 1};
}

std::variant<std::vector<SliceRange>, std::string> slice_ranges(const Shape& whole, std::span<const Attribute> bounds) {
  const auto at = [&](std::size_t which, std::size_t axis) {
    const Attribute& bound = bounds[which];
    return bound.given && axis < bound.integers.size() && bound.integers[axis] != INT64_MAX
               ? std::optional(bound.integers[axis])
               : std::nullopt;
  };
  for (const Attribute& bound : bounds) {
    if (bound.given && bound.integers.size() > whole.size()) {
      return std::to_string(bound.integers.size()) + " slice bounds for a tensor of rank " +
             std::to_string(whole.size());
    }
  }
  std::vector<SliceRange> ranges;
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    auto range = slice_range(whole, axis, at(0, axis), at(1, axis), at(2, axis).value_or(1));
    if (const auto* error = std::get_if<std::string>(&range)) return "slice " + *error;
    ranges.push_back(std::get<SliceRange>(range));
  }
  return ranges;
}

ShapeResult checked_shape(std::vector<std::int64_t> extents) {
  for (const std::int64_t extent : extents) {
    if (extent < 0) return "shape " + to_string(extents) + " has a negative extent";
  }
  if (extents.size() > max_rank) {
    return "shape " + to_string(extents) + " has more than " + std::to_string(max_rank) + " axes";
  }
  if (!element_count(extents)) {
    return "shape " + to_string(extents) + " has more than " + std::to_string(max_elements) + " elements";
  }
  return extents;
}

ShapeResult checked_constant(std::vector<std::int64_t> extents) {
  ShapeResult shape = checked_shape(std::move(extents));
  if (const auto* found = std::get_if<Shape>(&shape);
      found != nullptr && *element_count(*found) > max_constant_elements)
    return "a constant of shape " + to_string(*found) + " has more than " + std::to_string(max_constant_elements) +
           " elements";
  return shape;
}

ShapeResult broadcast_operands(const Application& app) {
  Shape shape;
  for (const Shape& operand : app.operand_shapes) {
    auto both = broadcast(shape, operand);
    if (!both) return "shapes " + to_string(shape) + " and " + to_string(operand) + " do not broadcast";
    shape = std::move(*both);
  }
  return checked_shape(std::move(shape));
}

ShapeResult shape_attribute(const Application& app) { return checked_shape(app.attributes[0].integers); }

ShapeResult same_shape(const Application& app) { return app.operand_shapes[0]; }

std::string flag_error(const Attribute& attribute, std::string_view name) {
  if (attribute.integers.size() == 1 && (attribute.integers[0] == 0 || attribute.integers[0] == 1)) return {};
  return std::string(name) + " is 0 or 1, not " +
         (attribute.scalar ? std::to_string(attribute.integers[0]) : to_string(attribute.integers));
}

std::string axis_error(std::int64_t axis, std::size_t rank) {
  return "axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank);
}

std::string axes_error(const Attribute& axis, std::size_t rank) {
  for (const std::int64_t a : axis.integers) {
    if (!normalized_axis(a, rank)) return axis_error(a, rank);
  }
  return "an axis appears twice in " + to_string(axis.integers);
}

OperatorInfo row(std::string_view name, std::vector<OperatorParameter> parameters, DTypeSlot result, ShapeRule shape,
                 Evaluate evaluate, Lowering lowering, std::vector<std::string_view> vjp, RowText text) {
  OperatorInfo info{};
  info.name = name;
  info.parameters = std::move(parameters);
  info.result = result;
  info.shape = shape;
  info.evaluate = evaluate;
  info.lowering = lowering;
  info.vjp = std::move(vjp);
  info.onnx = text.onnx;
  info.doc = text.doc;
  info.example = text.example;
  return info;
}

}  // namespace rml
