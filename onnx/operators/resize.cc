// Imports Resize and its predecessor Upsample, one axis after the other.
#include <algorithm>
#include <cmath>

#include "onnx/call.h"

namespace rml::onnx {

namespace {

using Integers = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

Numbers known_numbers(const Call& c, std::size_t k, const char* what) {
  const Term wide = c.apply("cast", {c.b.constant(c.known(k, what))}, {{"dtype", DType::f64}});
  const double* first = wide.value->as<double>();
  return {first, first + wide.elements()};
}

std::string sampling(const Call& c, bool old) {
  std::string mode = c.text("mode", "nearest");
  if (mode == "bilinear" || mode == "trilinear") mode = "linear";
  if (mode != "nearest") {
    if (mode != "linear" && mode != "cubic")
      throw ModelError{"", "the mode '" + mode + "' is not known: nearest, linear, cubic"};
    return mode;
  }
  if (old) return "nearest_floor";
  const std::string rounding = c.text("nearest_mode", "round_prefer_floor");
  if (rounding == "round_prefer_floor") return "nearest";
  if (rounding == "round_prefer_ceil") return "nearest_round_up";
  if (rounding == "floor" || rounding == "ceil") return "nearest_" + rounding;
  throw ModelError{"", "nearest_mode '" + rounding + "' is not known"};
}

struct Target {
  std::int64_t size = 0;
  double scale = 0;
};

std::int64_t scaled(std::int64_t extent, double scale) {
  const double size = std::floor(static_cast<double>(extent) * scale);
  if (!(size >= 0 && size <= static_cast<double>(max_elements)))
    throw ModelError{"", "the scale " + std::to_string(scale) + " does not give a size"};
  return static_cast<std::int64_t>(size);
}

// Returns the target of each resized axis.
std::vector<Target> targets(const Call& c, const Integers& axes) {
  const Term& x = c.in(0);
  const std::size_t scales_at = c.version < 11 ? 1 : 2;
  std::vector<Target> all(axes.size());
  const auto extent = [&](std::size_t k) { return x.shape[static_cast<std::size_t>(axes[k])]; };
  if (c.has(scales_at) && !(c.in(scales_at).elements() == 0 && c.has(3))) {
    const Numbers scales = known_numbers(c, scales_at, "the scales");
    if (scales.size() != axes.size())
      throw ModelError{
          "", "there are " + std::to_string(scales.size()) + " scales for " + std::to_string(axes.size()) + " axes"};
    for (std::size_t k = 0; k < axes.size(); ++k) all[k] = {scaled(extent(k), scales[k]), scales[k]};
    return all;
  }
  const Integers sizes = c.known_integers(3, "the sizes");
  if (sizes.size() != axes.size())
    throw ModelError{
        "", "there are " + std::to_string(sizes.size()) + " sizes for " + std::to_string(axes.size()) + " axes"};
  const std::string policy = c.text("keep_aspect_ratio_policy", "stretch");
  for (std::size_t k = 0; k < axes.size(); ++k)
    all[k] = {sizes[k], static_cast<double>(sizes[k]) / static_cast<double>(extent(k))};
  if (policy == "stretch") return all;
  if (policy != "not_larger" && policy != "not_smaller")
    throw ModelError{"", "keep_aspect_ratio_policy '" + policy + "' is not known"};
  const auto less = [](const Target& a, const Target& b) { return a.scale < b.scale; };
  const double scale =
      policy == "not_larger" ? std::ranges::min_element(all, less)->scale : std::ranges::max_element(all, less)->scale;
  for (std::size_t k = 0; k < axes.size(); ++k)
    all[k] = {static_cast<std::int64_t>(std::floor(scale * static_cast<double>(extent(k)) + 0.5)), scale};
  return all;
}

Term resized(const Call& c, const Integers& axes, const std::vector<Target>& to, const std::string& mode,
             const std::string& coordinates) {
  Term y = c.in(0);
  const bool crop = coordinates == "crop";
  Numbers region;
  if (crop) {
    region = known_numbers(c, 1, "the region");
    if (region.size() != 2 * axes.size())
      throw ModelError{"", "the region has " + std::to_string(region.size()) + " bounds for " +
                               std::to_string(axes.size()) + " axes"};
  }
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::int64_t extent = y.shape[static_cast<std::size_t>(axes[k])];
    if (to[k].size < 0) throw ModelError{"", "a size is " + std::to_string(to[k].size)};
    const bool same = to[k].size == extent && to[k].scale == 1 && coordinates != "tf_half_pixel_for_nn";
    if (same && !(crop && (region[k] != 0 || region[k + axes.size()] != 1))) continue;
    Arguments list = {{"axis", axes[k]}, {"size", to[k].size}, {"mode", mode}, {"coordinates", coordinates}};
    if (to[k].scale != static_cast<double>(to[k].size) / static_cast<double>(extent))
      list.emplace_back("scale", to[k].scale);
    if (crop) list.emplace_back("start", region[k]), list.emplace_back("end", region[k + axes.size()]);
    if (crop && c.number("extrapolation_value", 0) != 0) list.emplace_back("value", c.number("extrapolation_value", 0));
    if (mode == "cubic" && c.has("cubic_coeff_a")) list.emplace_back("cubic", c.number("cubic_coeff_a", -0.75));
    if (c.integer("antialias", 0) != 0) list.emplace_back("antialias", std::int64_t{1});
    if (c.integer("exclude_outside", 0) != 0) list.emplace_back("exclude_outside", std::int64_t{1});
    y = c.apply("resize", {y}, list);
  }
  return y;
}

std::vector<Term> resize(Call& c) {
  const Term& x = c.in(0);
  const bool old = c.version < 11;
  Integers axes;
  for (std::int64_t k = 0; k < x.rank(); ++k) axes.push_back(k);
  if (c.has("axes")) axes = normalized(c.integers("axes"), x.rank());
  std::string coordinates = old ? "asymmetric" : c.text("coordinate_transformation_mode", "half_pixel");
  if (coordinates == "tf_crop_and_resize") coordinates = "crop";
  return {resized(c, axes, targets(c, axes), sampling(c, old), coordinates)};
}

std::vector<Term> upsample(Call& c) {
  const Term& x = c.in(0);
  Numbers scales;
  if (c.version >= 9) {
    scales = known_numbers(c, 1, "the scales");
  } else if (c.version >= 7) {
    for (const float s : c.numbers("scales")) scales.push_back(static_cast<double>(s));
  } else {
    scales = {1, 1, c.number("height_scale", 1), c.number("width_scale", 1)};
  }
  if (static_cast<std::int64_t>(scales.size()) != x.rank())
    throw ModelError{"", "there are " + std::to_string(scales.size()) + " scales for " + to_string(x.shape)};
  Integers axes;
  std::vector<Target> to;
  for (std::int64_t k = 0; k < x.rank(); ++k) {
    axes.push_back(k);
    to.push_back({scaled(x.shape[static_cast<std::size_t>(k)], scales[static_cast<std::size_t>(k)]),
                  scales[static_cast<std::size_t>(k)]});
  }
  return {resized(c, axes, to, sampling(c, true), "asymmetric")};
}

}  // namespace

std::vector<Row> resize_rows() {
  return {
      {"Resize", 10, 1, 4, 1,
       "mode:s nearest_mode:s coordinate_transformation_mode:s cubic_coeff_a:f exclude_outside:i extrapolation_value:f "
       "antialias:i axes:ints keep_aspect_ratio_policy:s",
       resize},
      {"Upsample", 1, 1, 2, 1, "mode:s scales:floats height_scale:f width_scale:f", upsample},
  };
}

}  // namespace rml::onnx
