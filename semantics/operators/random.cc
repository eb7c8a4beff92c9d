// Random operators: tensors drawn anew at every cycle at which they are present.
//
// A draw is a function of the run's seed, the key of the operator's instance, and the cycle,
// which is a hidden last operand. Different instances and different cycles are independent.
// Compiled programs call the same kernels (runtime/kernels/random.h). The parameters are static,
// so there is nothing to differentiate.
#include "runtime/kernels/random.h"

#include <cmath>

#include "runtime/base/rmlrt.h"
#include "semantics/operators/rules.h"

namespace rml {

namespace {

using Kernel = decltype(&rml_random_uniform);
using dtypes::real;

template <Kernel kernel>
Fault evaluate_random(const Application& app, const EvaluationContext& context, std::span<const Tensor* const> operands,
                      Tensor& result) {
  double parameters[2] = {0, 0};
  for (std::size_t k = 1; k < app.attributes.size(); ++k) parameters[k - 1] = app.attributes[k].number;
  const std::vector<std::uint64_t> dims(result.shape().begin(), result.shape().end());
  std::int64_t cycle = 0;
  std::memcpy(&cycle, operands.back()->data(), sizeof cycle);
  const std::uint8_t dtype = result.dtype() == DType::f32 ? RML_F32 : RML_F64;
  return {kernel(result.data(), dtype, dims.data(), static_cast<std::uint32_t>(dims.size()), parameters[0],
                 parameters[1], context.seed, context.key, cycle),
          0, 0};
}

std::string bound_text(double value) { return to_string(Tensor::scalar(DType::f64, value)); }

// Returns the first attribute, the shape, if the bounds after it are valid.
ShapeResult uniform_shape(const Application& app) {
  const double low = app.attributes[1].number, high = app.attributes[2].number;
  if (!(low <= high) || !std::isfinite(high - low))
    return "no numbers are drawn between " + bound_text(low) + " and " + bound_text(high);
  return shape_attribute(app);
}

ShapeResult normal_shape(const Application& app) {
  const double std = app.attributes[2].number;
  if (!(std >= 0)) return "a standard deviation is not negative: " + bound_text(std);
  return shape_attribute(app);
}

ShapeResult bernoulli_shape(const Application& app) {
  const double p = app.attributes[1].number;
  if (!(p >= 0 && p <= 1)) return "a probability is within 0 and 1, not " + bound_text(p);
  return shape_attribute(app);
}

// The numbers of inputs and outputs of a unit, by which the scales of initial values are computed.
struct Fans {
  double in = 0, out = 0;
  explicit Fans(const Shape& shape) {
    const auto all = static_cast<double>(element_count(shape).value_or(0));
    out = shape.size() < 2 ? all : static_cast<double>(shape[0]);
    in = shape.size() < 2 ? all : static_cast<double>(element_count({shape.begin() + 1, shape.end()}).value_or(0));
  }
};

// The draws of runtime/kernels/random.cc: between ± sqrt(scale / n), or of deviation sqrt(scale / n), where n is
// fan_in, or both fans together.
template <int scale, bool both = false>
ScaledDraw within(const Shape& shape) {
  const Fans fans(shape);
  const double limit = std::sqrt(scale / (both ? fans.in + fans.out : fans.in));
  return {false, -limit, limit};
}
template <int scale, bool both = false>
ScaledDraw around(const Shape& shape) {
  const Fans fans(shape);
  return {true, 0, std::sqrt(scale / (both ? fans.in + fans.out : fans.in))};
}

template <Kernel kernel, ShapeRule shape = shape_attribute>
OperatorInfo random_row(std::string_view name, std::string_view symbol, std::vector<OperatorParameter> more,
                        RowText text) {
  std::vector<OperatorParameter> parameters = {integers("shape")};
  parameters.insert(parameters.end(), more.begin(), more.end());
  OperatorInfo info = row(name, std::move(parameters), {0, real, DType::f32}, shape, evaluate_random<kernel>,
                          Lowering::random, {}, text);
  info.kernel = symbol;
  info.random = true;
  return info;
}

template <Kernel kernel, ScaledDraw (*draw)(const Shape&)>
OperatorInfo scaled_row(std::string_view name, std::string_view symbol, RowText text) {
  OperatorInfo info = random_row<kernel>(name, symbol, {}, text);
  info.scaled_draw = draw;
  return info;
}

// The examples show shapes, since values depend on the seed.
std::vector<OperatorInfo> plain_rows() {
  return {
      random_row<rml_random_uniform, uniform_shape>(
          "uniform", "rml_random_uniform", {number_attribute("low", "0"), number_attribute("high", "1")},
          {"RandomUniform", "Uniform random numbers in [low, high); f32 unless their use needs f64.",
           "shape(uniform([2, 3])) -- [2,3]"}),
      random_row<rml_random_normal, normal_shape>(
          "normal", "rml_random_normal", {number_attribute("mean", "0"), number_attribute("std", "1")},
          {"RandomNormal", "Random numbers with a normal distribution of the given mean and standard deviation.",
           "shape(normal([2, 3], std=0.1)) -- [2,3]"}),
      random_row<rml_random_bernoulli, bernoulli_shape>(
          "bernoulli", "rml_random_bernoulli", {number_attribute("p", "0.5")},
          {"Bernoulli", "Random numbers that are 1 with probability p, else 0; p is static.",
           "shape(bernoulli([2, 3], p=0.9)) -- [2,3]"}),
      random_row<rml_random_truncated_normal, normal_shape>(
          "truncated_normal", "rml_random_truncated_normal",
          {number_attribute("mean", "0"), number_attribute("std", "1")},
          {"", "Normal random numbers of the given mean and std; one that differs by more than 2 std is drawn again.",
           "shape(truncated_normal([2, 3], std=0.1)) -- [2,3]"}),
  };
}

std::vector<OperatorInfo> scaled_rows() {
  return {
      scaled_row<rml_random_glorot_uniform, within<6, true>>(
          "glorot_uniform", "rml_random_glorot_uniform",
          {"",
           "Random numbers with a uniform distribution in ± sqrt(6 / (fan_in + fan_out)). "
           "fan_out is the first extent, "
           "and fan_in is the product of the others; for a vector of n elements, both are n.",
           "shape(glorot_uniform([2, 3])) -- [2,3]"}),
      scaled_row<rml_random_glorot_normal, around<2, true>>(
          "glorot_normal", "rml_random_glorot_normal",
          {"",
           "Normal random numbers of standard deviation sqrt(2 / "
           "(fan_in + fan_out)); fan_in and fan_out are as in glorot_uniform.",
           "shape(glorot_normal([2, 3])) -- [2,3]"}),
      scaled_row<rml_random_he_uniform, within<6>>(
          "he_uniform", "rml_random_he_uniform",
          {"", "Random numbers with a uniform distribution in ± sqrt(6 / fan_in); fan_in is as in glorot_uniform.",
           "shape(he_uniform([2, 3])) -- [2,3]"}),
      scaled_row<rml_random_he_normal, around<2>>("he_normal", "rml_random_he_normal",
                                                  {"",
                                                   "Normal random numbers of standard deviation sqrt(2 / "
                                                   "fan_in); fan_in is as in glorot_uniform.",
                                                   "shape(he_normal([2, 3])) -- [2,3]"}),
      scaled_row<rml_random_lecun_uniform, within<3>>(
          "lecun_uniform", "rml_random_lecun_uniform",
          {"", "Random numbers with a uniform distribution in ± sqrt(3 / fan_in); fan_in is as in glorot_uniform.",
           "shape(lecun_uniform([2, 3])) -- [2,3]"}),
      scaled_row<rml_random_lecun_normal, around<1>>("lecun_normal", "rml_random_lecun_normal",
                                                     {"",
                                                      "Normal random numbers of standard deviation sqrt(1 / "
                                                      "fan_in); fan_in is as in glorot_uniform.",
                                                      "shape(lecun_normal([2, 3])) -- [2,3]"}),
  };
}

OperatorInfo orthogonal_row() {
  OperatorInfo info = random_row<rml_random_orthogonal>(
      "orthogonal", "rml_random_orthogonal", {},
      {"",
       "A random matrix with orthonormal rows, or columns if these are fewer: the Q of the QR decomposition of a "
       "normal matrix. The shape counts as [first extent, product of the others]. A vector has norm 1.",
       "shape(orthogonal([2, 3])) -- [2,3]"});
  info.drawn_whole = true;
  // Degenerate draws have probability zero, but the kernel can report them: RML_FAULT_NUMERIC.
  info.can_fail = true;
  info.failure = "the computation has no result";
  return info;
}

}  // namespace

std::vector<OperatorInfo> random_operators() {
  std::vector<OperatorInfo> rows = plain_rows();
  for (OperatorInfo& info : scaled_rows()) rows.push_back(std::move(info));
  rows.push_back(orthogonal_row());
  return rows;
}

}  // namespace rml
