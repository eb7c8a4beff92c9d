// Imports normalisations over a batch, an instance, a layer, a group or a neighbourhood of
// channels.
#include <algorithm>

#include "onnx/call.h"

namespace rml::onnx {

namespace {

using Integers = std::vector<std::int64_t>;

// Reshapes one number per channel so that it broadcasts along axis 1.
Term per_channel(const Call& c, const Term& v, std::int64_t rank) {
  if (v.rank() == 0 || rank < 2) return v;
  Integers shape(static_cast<std::size_t>(rank - 1), 1);
  shape[0] = v.elements();
  return shape == v.shape ? v : c.apply("reshape", {v}, {{"shape", shape}});
}

Term root(const Call& c, const Term& variance, double epsilon) {
  return c.apply("sqrt", {c.apply("add", {variance, c.b.scalar(variance.dtype, epsilon)})});
}

struct Moments {
  Term mean, centered, variance;
};

Moments moments(const Call& c, const Term& x, const Integers& axes) {
  const Arguments along = {{"axis", axes}, {"keepdims", std::int64_t{1}}};
  Moments m;
  m.mean = c.b.shared(c.apply("mean", {x}, along));
  m.centered = c.b.shared(c.apply("sub", {x, m.mean}));
  m.variance = c.b.shared(c.apply("mean", {c.apply("mul", {m.centered, m.centered})}, along));
  return m;
}

std::vector<Term> batch(Call& c) {
  const Term x = c.in(0);
  const double epsilon = c.number("epsilon", 1e-5);
  if (x.rank() < 1) throw ModelError{"", "it takes [batch, channels, …], not a scalar"};
  if (c.integer("spatial", 1) == 0 && x.rank() > 2) throw ModelError{"", "spatial=0 is not supported"};
  const bool training =
      c.version >= 14 ? c.integer("training_mode", 0) != 0 : c.version < 7 && c.integer("is_test", 0) == 0;
  if (training && c.version < 14)
    throw ModelError{
        "", "training with version " + std::to_string(c.version) + " of the operator is not supported: set is_test"};
  const auto wide = [&](std::size_t k) { return per_channel(c, c.in(k), x.rank()); };
  const bool known = c.in(1).known() && c.in(2).known() && c.in(3).known() && c.in(4).known();
  if (!training && known && is_float(x.dtype)) {
    // Computes y = factor x + shift, where both numbers are known.
    const Term factor = c.apply("div", {wide(1), root(c, wide(4), epsilon)});
    const Term shift = c.apply("sub", {wide(2), c.apply("mul", {wide(3), factor})});
    return {c.apply("add", {c.apply("mul", {x, factor}), shift})};
  }
  Term mean = wide(3), variance = wide(4);
  Term centered = c.apply("sub", {x, mean});
  std::vector<Term> running;
  if (training) {
    Integers axes = {0};
    for (std::int64_t k = 2; k < x.rank(); ++k) axes.push_back(k);
    const Moments m = moments(c, x, axes);
    centered = m.centered;
    variance = m.variance;
    const double keep = c.number("momentum", 0.9);
    const auto moved = [&](const Term& before, const Term& now) {
      const Term flat = c.apply("reshape", {now}, {{"shape", Integers(before.shape)}});
      return c.apply("add", {c.apply("mul", {before, c.b.scalar(x.dtype, keep)}),
                             c.apply("mul", {flat, c.b.scalar(x.dtype, 1 - keep)})});
    };
    running = {moved(c.in(3), m.mean), moved(c.in(4), m.variance)};
  }
  const Term unit = c.apply("div", {centered, root(c, variance, epsilon)});
  std::vector<Term> outputs = {c.apply("add", {c.apply("mul", {unit, wide(1)}), wide(2)})};
  outputs.insert(outputs.end(), running.begin(), running.end());
  return outputs;
}

std::vector<Term> instance(Call& c) {
  const Term& x = c.in(0);
  if (x.rank() < 3) throw ModelError{"", "it takes [batch, channels, spatial axes], not " + to_string(x.shape)};
  Integers axes;
  for (std::int64_t k = 2; k < x.rank(); ++k) axes.push_back(k);
  const Moments m = moments(c, x, axes);
  const Term unit = c.apply("div", {m.centered, root(c, m.variance, c.number("epsilon", 1e-5))});
  return {
      c.apply("add", {c.apply("mul", {unit, per_channel(c, c.in(1), x.rank())}), per_channel(c, c.in(2), x.rank())})};
}

std::vector<Term> layer(Call& c) {
  const Term x = c.in(0);
  const std::int64_t axis = normalized(c.integer("axis", -1), x.rank());
  Integers axes;
  for (std::int64_t k = axis; k < x.rank(); ++k) axes.push_back(k);
  const Moments m = moments(c, x, axes);
  const Term spread = c.b.shared(root(c, m.variance, c.number("epsilon", 1e-5)));
  Term y = c.apply("mul", {c.apply("div", {m.centered, spread}), c.in(1)});
  if (c.has(2)) y = c.apply("add", {y, c.in(2)});
  return {y, m.mean, c.apply("reciprocal", {spread})};
}

std::vector<Term> rms(Call& c) {
  const Term& x = c.in(0);
  const std::int64_t axis = normalized(c.integer("axis", -1), x.rank());
  Integers axes;
  for (std::int64_t k = axis; k < x.rank(); ++k) axes.push_back(k);
  const Term square = c.apply("mean", {c.apply("mul", {x, x})}, {{"axis", axes}, {"keepdims", std::int64_t{1}}});
  return {c.apply("mul", {c.apply("div", {x, root(c, square, c.number("epsilon", 1e-5))}), c.in(1)})};
}

std::vector<Term> group(Call& c) {
  const Term x = c.in(0);
  const std::int64_t groups = c.integer("num_groups", 0);
  if (x.rank() < 3 || groups < 1 || x.shape[1] % groups != 0)
    throw ModelError{"", std::to_string(groups) + " groups do not fit " + to_string(x.shape)};
  Integers rest = {x.shape[0], groups, x.shape[1] / groups};
  rest.insert(rest.end(), x.shape.begin() + 2, x.shape.end());
  Integers axes;
  for (std::size_t k = 2; k < rest.size(); ++k) axes.push_back(static_cast<std::int64_t>(k));
  const Moments m = moments(c, c.b.shared(c.apply("reshape", {x}, {{"shape", rest}})), axes);
  const Term unit = c.apply("div", {m.centered, root(c, m.variance, c.number("epsilon", 1e-5))});
  // Repeats a number per group for its channels; versions before 21 have one per group.
  const auto spread = [&](const Term& v) {
    if (v.elements() == x.shape[1]) return per_channel(c, v, x.rank());
    const Term each = c.apply("broadcast_to", {c.apply("reshape", {v}, {{"shape", Integers{groups, 1}}})},
                              {{"shape", Integers{groups, x.shape[1] / groups}}});
    return per_channel(c, c.apply("reshape", {each}, {{"shape", Integers{x.shape[1]}}}), x.rank());
  };
  const Term whole = c.apply("reshape", {unit}, {{"shape", Integers(x.shape)}});
  return {c.apply("add", {c.apply("mul", {whole, spread(c.in(1))}), spread(c.in(2))})};
}

std::vector<Term> mean_variance(Call& c) {
  const Term x = c.in(0);
  const Integers axes = normalized(c.integers("axes", {0, 2, 3}), x.rank());
  const Moments m = moments(c, x, axes);
  return {c.apply("div", {m.centered, c.apply("add", {c.apply("sqrt", {m.variance}), c.b.scalar(x.dtype, 1e-9)})})};
}

std::vector<Term> norm(Call& c) {
  const Term x = c.in(0);
  const std::int64_t axis = normalized(c.integer("axis", -1), x.rank()), p = c.integer("p", 2);
  if (p != 1 && p != 2) throw ModelError{"", "the norm's order is " + std::to_string(p) + ", not 1 or 2"};
  const Term length =
      c.apply("norm", {x}, {{"axis", axis}, {"keepdims", std::int64_t{1}}, {"ord", static_cast<double>(p)}});
  const Term least =
      c.apply("select", {c.apply("eq", {length, c.b.scalar(x.dtype, 0)}), c.b.scalar(x.dtype, 1), length});
  return {c.apply("div", {x, least})};
}

// The mean of squares over `size` channels around each channel; missing channels count as 0.
std::vector<Term> local_response(Call& c) {
  const Term x = c.in(0);
  const std::int64_t size = c.integer("size", 1);
  if (x.rank() < 2 || size < 1) throw ModelError{"", "it takes [batch, channels, …] and a size of at least 1"};
  const std::int64_t channels = x.shape[1],
                     rest = channels == 0 || x.shape[0] == 0 ? 0 : x.elements() / (channels * x.shape[0]);
  const Term squares =
      c.apply("reshape", {c.apply("mul", {x, x})}, {{"shape", Integers{x.shape[0], 1, channels, rest}}});
  const Term mean = c.apply("average_pool", {squares},
                            {{"window", Integers{size, 1}},
                             {"strides", Integers{1, 1}},
                             {"padding", Integers{(size - 1) / 2, 0, size / 2, 0}},
                             {"count_include_pad", std::int64_t{1}}});
  const auto number = [&](double v) { return c.b.scalar(x.dtype, v); };
  const Term base = c.apply(
      "add",
      {number(c.number("bias", 1)),
       c.apply("mul", {number(c.number("alpha", 1e-4)), c.apply("reshape", {mean}, {{"shape", Integers(x.shape)}})})});
  return {c.apply("div", {x, c.apply("pow", {base, number(c.number("beta", 0.75))})})};
}

}  // namespace

std::vector<Row> normalization_rows() {
  return {
      {"BatchNormalization", 1, 5, 5, 5,
       "epsilon:f momentum:f spatial:i is_test:i training_mode:i consumed_inputs:ints", batch},
      {"InstanceNormalization", 1, 3, 3, 1, "epsilon:f consumed_inputs:ints", instance},
      {"LayerNormalization", 17, 2, 3, 3, "axis:i epsilon:f stash_type:i", layer},
      {"RMSNormalization", 23, 2, 2, 1, "axis:i epsilon:f stash_type:i", rms},
      {"GroupNormalization", 18, 3, 3, 1, "epsilon:f num_groups:i! stash_type:i", group},
      {"MeanVarianceNormalization", 9, 1, 1, 1, "axes:ints", mean_variance},
      {"LpNormalization", 1, 1, 1, 1, "axis:i p:i", norm},
      {"LRN", 1, 1, 1, 1, "alpha:f beta:f bias:f size:i!", local_response},
  };
}

}  // namespace rml::onnx
