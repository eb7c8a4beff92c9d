// Transforms of whole sequences: Fourier transforms, frames, and the alignments of CTC.
//
// A Fourier transform takes a plan, a vector that depends only on its length and is folded to a
// constant. stdlib/signal.rml has the transforms as users call them, over any axis.
#include <limits>

#include "runtime/kernels/ctc.h"
#include "runtime/kernels/fourier.h"
#include "semantics/operators/rules.h"

namespace rml {

namespace {

using dtypes::index, dtypes::real;

constexpr std::int64_t most_points = std::int64_t{1} << 28;

std::string points_error(std::int64_t n) {
  if (n >= 1 && n <= most_points) return {};
  return "a transform has 1 to " + std::to_string(most_points) + " points, not " + std::to_string(n);
}

std::string single_error(const Attribute& attribute, std::string_view name) {
  if (attribute.integers.size() == 1) return {};
  return std::string(name) + " must be one integer, not " + to_string(attribute.integers);
}

std::string plan_error(const Shape& plan, std::int64_t n, bool is_real) {
  if (std::string error = points_error(n); !error.empty()) return error;
  if (plan == Shape{rml_fourier_plan_size(n, is_real ? 1 : 0)}) return {};
  return "the plan, of shape " + to_string(plan) + ", is not fourier_plan(" + std::to_string(n) +
         (is_real ? ", real=1)" : ")");
}

std::string pairs_error(const Shape& x) {
  if (x.size() >= 2 && x.back() == 2) return {};
  return "complex numbers are pairs on the last axis, [..., n, 2], not the shape " + to_string(x);
}

ShapeResult plan_shape(const Application& app) {
  for (const std::string& error : {single_error(app.attributes[0], "n"), flag_error(app.attributes[1], "real")}) {
    if (!error.empty()) return error;
  }
  const std::int64_t n = app.attributes[0].integers[0];
  if (std::string error = points_error(n); !error.empty()) return error;
  return checked_constant({rml_fourier_plan_size(n, app.attributes[1].integers[0])});
}

ShapeResult fourier_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  for (const std::string& error : {pairs_error(x), flag_error(app.attributes[0], "inverse")}) {
    if (!error.empty()) return error;
  }
  if (std::string error = plan_error(app.operand_shapes[1], x[x.size() - 2], false); !error.empty()) return error;
  return x;
}

ShapeResult real_fourier_shape(const Application& app) {
  Shape shape = app.operand_shapes[0];
  if (shape.empty()) return "a transform needs a sequence, not a scalar";
  if (std::string error = plan_error(app.operand_shapes[1], shape.back(), true); !error.empty()) return error;
  shape.back() = shape.back() / 2 + 1;
  shape.push_back(2);
  return checked_shape(std::move(shape));
}

ShapeResult terms_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  for (const std::string& error : {pairs_error(x), single_error(app.attributes[0], "n")}) {
    if (!error.empty()) return error;
  }
  const std::int64_t n = app.attributes[0].integers[0];
  if (std::string error = plan_error(app.operand_shapes[1], n, true); !error.empty()) return error;
  if (x[x.size() - 2] != n / 2 + 1) {
    return "half a spectrum of " + std::to_string(n) + " points has " + std::to_string(n / 2 + 1) + ", not " +
           std::to_string(x[x.size() - 2]) + ": " + to_string(x);
  }
  Shape shape(x.begin(), x.end() - 1);
  shape.back() = n;
  return checked_shape(std::move(shape));
}

std::string hop_error(const Attribute& hop) {
  if (std::string error = single_error(hop, "hop"); !error.empty()) return error;
  if (hop.integers[0] < 1) return "hop " + std::to_string(hop.integers[0]) + " is not positive";
  return {};
}

ShapeResult frames_shape(const Application& app) {
  Shape shape = app.operand_shapes[0];
  if (shape.empty()) return "frames need a sequence, not a scalar";
  for (const std::string& error : {single_error(app.attributes[0], "length"), hop_error(app.attributes[1])}) {
    if (!error.empty()) return error;
  }
  const std::int64_t length = app.attributes[0].integers[0], n = shape.back();
  if (length < 1 || length > n) {
    return "a frame of length " + std::to_string(length) + " does not fit a sequence of " + std::to_string(n) + ": " +
           to_string(shape);
  }
  shape.back() = (n - length) / app.attributes[1].integers[0] + 1;
  shape.push_back(length);
  return checked_shape(std::move(shape));
}

ShapeResult overlap_add_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  if (x.size() < 2) return "frames are of shape [..., frames, length], not " + to_string(x);
  for (const std::string& error : {single_error(app.attributes[0], "n"), hop_error(app.attributes[1])}) {
    if (!error.empty()) return error;
  }
  const std::int64_t n = app.attributes[0].integers[0], hop = app.attributes[1].integers[0];
  const std::int64_t number = x[x.size() - 2], length = x.back();
  if (length < 1 || n < length || number - 1 > (n - length) / hop) {
    return std::to_string(number) + " frames of length " + std::to_string(length) + " with hop " + std::to_string(hop) +
           " do not fit a sequence of " + std::to_string(n);
  }
  Shape shape(x.begin(), x.end() - 1);
  shape.back() = n;
  return checked_shape(std::move(shape));
}

std::int64_t size_of(const Application& app) { return static_cast<std::int64_t>(byte_size(app.result_dtype)); }

std::int64_t plan_scratch(const Application& app) {
  return 2 * 8 * rml_fourier_plan_size(app.attributes[0].integers[0], app.attributes[1].integers[0]);
}
std::int64_t fourier_scratch(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  return rml_fourier_bytes(x[x.size() - 2], size_of(app));
}
std::int64_t real_fourier_scratch(const Application& app) {
  return rml_fourier_bytes(app.operand_shapes[0].back(), size_of(app));
}
std::int64_t terms_scratch(const Application& app) {
  return rml_fourier_bytes(app.attributes[0].integers[0], size_of(app));
}

constexpr std::string_view constant = "none: the result is a constant";

std::vector<OperatorInfo> fourier_rows() {
  std::vector<OperatorInfo> rows = {
      kernel_row<rml_fourier_plan, plan_scratch>(
          "fourier_plan", "rml_fourier_plan", {integers("n"), integers("real", "0")}, {0, real, DType::f32}, plan_shape,
          {},
          {"",
           "The plan that a Fourier transform of n points needs, or with real=1 of n real points: a constant vector.",
           "fourier_plan(4) -- [1,0,0,-1,-1,0,0,1]"}),
      kernel_row<rml_fourier, fourier_scratch>(
          "fourier", "rml_fourier", {operand("x", real), operand("plan", real), integers("inverse", "0")}, same(real),
          fourier_shape, {"fourier(dy, plan, inverse=1 - inverse)", constant},
          {"DFT",
           "The discrete Fourier transform of n complex numbers, which are pairs on the last axis: [..., n, 2] to "
           "[..., n, 2]. The plan is fourier_plan(n). inverse=1 uses the opposite sign in the exponent, and does not "
           "divide by n. signal.fft is easier to use.",
           "fourier([[1.0, 0.0], [2.0, 0.0]], fourier_plan(2)) -- [3,0;-1,0]"}),
      kernel_row<rml_real_fourier, real_fourier_scratch>(
          "real_fourier", "rml_real_fourier", {operand("x", real), operand("plan", real)}, same(real),
          real_fourier_shape, {"real_fourier_terms(dy, plan, size(x, axis=-1))", constant},
          {"DFT",
           "The first n / 2 + 1 numbers of the Fourier transform of n real numbers, as pairs on a new last axis. The "
           "plan is fourier_plan(n, real=1). signal.rfft is easier to use.",
           "real_fourier([1.0, 2.0], fourier_plan(2, real=1)) -- [3,0;-1,0]"}),
      kernel_row<rml_real_fourier_terms, terms_scratch>(
          "real_fourier_terms", "rml_real_fourier_terms", {operand("x", real), operand("plan", real), integers("n")},
          same(real), terms_shape, {"real_fourier(dy, plan)", constant},
          {"",
           "The adjoint of real_fourier: for each t below n, the real part of the sum of x[k] exp(2 π i k t / n) over "
           "the n / 2 + 1 complex numbers x.",
           "real_fourier_terms([[3.0, 0.0], [-1.0, 0.0]], fourier_plan(2, real=1), 2) -- [2,4]"}),
  };
  rows[0].lowering = Lowering::folded;
  rows[0].kernel = {};
  return rows;
}

std::vector<OperatorInfo> frame_rows() {
  return {
      kernel_row<rml_frames>("frames", "rml_frames", {operand("x", real), integers("length"), integers("hop")},
                             same(real), frames_shape, {"overlap_add(dy, size(x, axis=-1), hop)"},
                             {"",
                              "The last axis cut into frames of the given length, which begin every hop elements: "
                              "[..., n] to [..., frames, length]. Elements after the last frame are not read.",
                              "frames([1.0, 2.0, 3.0, 4.0, 5.0], 3, 2) -- [1,2,3;3,4,5]"}),
      kernel_row<rml_overlap_add>("overlap_add", "rml_overlap_add",
                                  {operand("x", real), integers("n"), integers("hop")}, same(real), overlap_add_shape,
                                  {"slice(frames(dy, size(x, axis=-1), hop), stops=shape(x))"},
                                  {"", "The sum of frames that begin every hop elements, as a sequence of n elements.",
                                   "overlap_add([[1.0, 2.0], [3.0, 4.0]], 4, 1) -- [1,5,4,0]"}),
  };
}

// ---- CTC ----------------------------------------------------------------------------------

std::string ctc_error(std::span<const Shape> shapes, const Attribute& blank) {
  const Shape &x = shapes[0], &targets = shapes[1];
  if (x.size() != 3) return "log_probs are of shape [time, batch, classes], not " + to_string(x);
  if (targets.size() != 2 || targets[0] != x[1]) {
    return "targets are of shape [batch, longest], with the batch of log_probs: " + to_string(targets) + " and " +
           to_string(x);
  }
  for (std::size_t k = 2; k < 4; ++k) {
    if (shapes[k] != Shape{x[1]}) {
      return "lengths are of shape [batch], with the batch of log_probs: " + to_string(shapes[k]) + " and " +
             to_string(x);
    }
  }
  if (std::string error = single_error(blank, "blank"); !error.empty()) return error;
  if (blank.integers[0] < 0 || blank.integers[0] >= x[2]) {
    return "blank " + std::to_string(blank.integers[0]) + " is not a class of " + to_string(x);
  }
  return {};
}

ShapeResult ctc_shape(const Application& app) {
  if (std::string error = ctc_error(app.operand_shapes, app.attributes[0]); !error.empty()) return error;
  return Shape{app.operand_shapes[0][1]};
}

ShapeResult ctc_gradient_shape(const Application& app) {
  const std::span<const Shape> shapes = app.operand_shapes;
  if (std::string error = ctc_error(shapes.subspan(1), app.attributes[0]); !error.empty()) return error;
  if (shapes[0] != Shape{shapes[1][1]}) {
    return "the adjoint is of shape [batch], with the batch of log_probs: " + to_string(shapes[0]) + " and " +
           to_string(shapes[1]);
  }
  return shapes[1];
}

std::int64_t ctc_scratch(const Application& app) {
  const std::size_t first = app.operand_shapes[0].size() == 3 ? 0 : 1;
  return rml_ctc_bytes(app.operand_shapes[first][0], app.operand_shapes[first + 1][1]);
}

std::vector<OperatorInfo> ctc_rows() {
  constexpr std::string_view integers_only = "none: it is an integer";
  const std::vector<OperatorParameter> operands = {operand("log_probs", real), operand("targets", index, 1),
                                                   operand("input_lengths", index, 1),
                                                   operand("target_lengths", index, 1), integers("blank", "0")};
  std::vector<OperatorParameter> of_gradient = operands;
  of_gradient.insert(of_gradient.begin(), operand("adjoint", real));
  std::vector<OperatorInfo> rows = {
      kernel_row<rml_ctc, ctc_scratch>(
          "ctc_loss", "rml_ctc", operands, same(real), ctc_shape,
          {"ctc_loss_gradient(dy, log_probs, targets, input_lengths, target_lengths, blank=blank)", integers_only,
           integers_only, integers_only},
          {"",
           "Connectionist temporal classification: for each sequence of a batch, minus the logarithm of the "
           "probability of all alignments of its targets, of shape [batch, longest], with log_probs, of shape [time, "
           "batch, classes]. It is inf if there is no alignment. A length or label that is out of range, and a label "
           "that is blank, stop the run.",
           "ctc_loss([[[0.0, 0.0]]], [[1]], [1], [1]) -- [0]"}),
      kernel_row<rml_ctc_gradient, ctc_scratch>(
          "ctc_loss_gradient", "rml_ctc_gradient", of_gradient, same(real), ctc_gradient_shape,
          {"sum(dy * ctc_loss_gradient(ones_like(adjoint), log_probs, targets, input_lengths, target_lengths, "
           "blank=blank), axis=[0, 2])",
           "none: `ctc_loss`: it has no second derivative", integers_only, integers_only, integers_only},
          {"",
           "The gradient of ctc_loss with respect to log_probs, times the adjoint of each sequence. It is 0 where the "
           "adjoint is 0, and NaN where there is no alignment.",
           "ctc_loss_gradient([1.0], [[[0.0, 0.0]]], [[1]], [1], [1]) -- [[0,-1]]"}),
  };
  for (OperatorInfo& info : rows) {
    info.can_fail = true;
    info.failure = "a length or label is out of range";
  }
  return rows;
}

}  // namespace

std::vector<OperatorInfo> transform_operators() {
  std::vector<OperatorInfo> rows = fourier_rows();
  for (OperatorInfo& info : frame_rows()) rows.push_back(std::move(info));
  for (OperatorInfo& info : ctc_rows()) rows.push_back(std::move(info));
  return rows;
}

}  // namespace rml
