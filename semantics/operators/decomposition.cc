// Linear algebra with LAPACK, on the last two axes; earlier axes are batches.
//
// An operator with several results packs them into one row, one after the other (`svd_parts`, …);
// the nodes of stdlib/linalg.rml unpack it and have the gradients. Operators on symmetric
// matrices compute with (a + aᵀ) / 2, so that a derivative by every element exists. If there is
// no result, for instance of a singular matrix, the run stops.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "runtime/base/rmlrt.h"
#include "runtime/kernels/lapack.h"
#include "semantics/operators/pointwise.h"
#include "semantics/operators/rules.h"
#include "semantics/operators/scalar_functions.h"

namespace rml {

namespace {

using dtypes::real;

// LAPACK uses 32-bit counts. Its workspaces have at most 140 elements per row and column.
constexpr std::int64_t longest = std::int64_t{1} << 23;

std::string matrix_error(const Shape& shape) {
  if (shape.size() < 2) return "a matrix has at least two axes, not the shape " + to_string(shape);
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  if (rows > longest || columns > longest) {
    return "a matrix has at most " + std::to_string(longest) + " rows and columns here, not " + to_string(shape);
  }
  return {};
}

std::string square_error(const Shape& shape) {
  if (std::string error = matrix_error(shape); !error.empty()) return error;
  if (shape[shape.size() - 2] == shape.back()) return {};
  return "the matrix is not square: its last two axes, of " + to_string(shape) + ", differ";
}

ShapeResult square_shape(const Application& app) {
  const Shape& a = app.operand_shapes[0];
  if (std::string error = square_error(a); !error.empty()) return error;
  return a;
}

// The batch axes of a matrix, and an axis of `size` if one is given.
ShapeResult packed(const Shape& matrix, std::optional<std::int64_t> size) {
  Shape shape(matrix.begin(), matrix.end() - 2);
  if (size) shape.push_back(*size);
  return checked_shape(std::move(shape));
}

struct Extents {
  std::int64_t m, n, k;
};

Extents extents(const Application& app) {
  const Shape& a = app.operand_shapes[0];
  const std::int64_t m = a[a.size() - 2], n = a.back();
  return {m, n, std::min(m, n)};
}

ShapeResult solve_shape(const Application& app) {
  const Shape &a = app.operand_shapes[0], &b = app.operand_shapes[1];
  if (std::string error = square_error(a); !error.empty()) return error;
  if (b.empty()) return "the right-hand side is a vector or a matrix, not a scalar";
  const std::int64_t rows = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (rows != a.back()) {
    return "the right-hand side has " + std::to_string(rows) + " rows where the matrix has " +
           std::to_string(a.back()) + ": " + to_string(a) + " and " + to_string(b);
  }
  if (b.back() > longest) return matrix_error({rows, b.back()});
  auto shape = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - (b.size() == 1 ? 1 : 2)});
  if (!shape) return "batch dimensions do not broadcast: " + to_string(a) + " and " + to_string(b);
  shape->push_back(rows);
  if (b.size() > 1) shape->push_back(b.back());
  return checked_shape(std::move(*shape));
}

ShapeResult triangular_solve_shape(const Application& app) {
  for (const std::string& error : {flag_error(app.attributes[0], "lower"), flag_error(app.attributes[1], "unit")})
    if (!error.empty()) return error;
  return solve_shape(app);
}

ShapeResult batch_shape(const Application& app) {
  if (std::string error = square_error(app.operand_shapes[0]); !error.empty()) return error;
  return packed(app.operand_shapes[0], std::nullopt);
}

ShapeResult pair_shape(const Application& app) {
  if (std::string error = square_error(app.operand_shapes[0]); !error.empty()) return error;
  return packed(app.operand_shapes[0], 2);
}

ShapeResult qr_shape(const Application& app) {
  if (std::string error = matrix_error(app.operand_shapes[0]); !error.empty()) return error;
  const auto [m, n, k] = extents(app);
  return packed(app.operand_shapes[0], m * k + k * n);
}

ShapeResult svd_shape(const Application& app) {
  if (std::string error = matrix_error(app.operand_shapes[0]); !error.empty()) return error;
  const auto [m, n, k] = extents(app);
  return packed(app.operand_shapes[0], m * k + k + k * n);
}

ShapeResult eigh_shape(const Application& app) {
  if (std::string error = square_error(app.operand_shapes[0]); !error.empty()) return error;
  const std::int64_t n = extents(app).n;
  return packed(app.operand_shapes[0], n + n * n);
}

ShapeResult power_shape(const Application& app) {
  if (app.attributes[0].integers.size() != 1)
    return "the exponent must be one integer, not " + to_string(app.attributes[0].integers);
  return square_shape(app);
}

std::int64_t size_of(const Application& app) { return static_cast<std::int64_t>(byte_size(app.result_dtype)); }

std::int64_t solve_scratch(const Application& app) {
  const Shape& b = app.operand_shapes[1];
  return rml_lapack_solve_bytes(extents(app).n, b.size() == 1 ? 1 : b.back(), size_of(app));
}
std::int64_t factor_scratch(const Application& app) { return rml_lapack_factor_bytes(extents(app).n, size_of(app)); }
std::int64_t cofactor_scratch(const Application& app) {
  return rml_lapack_cofactor_bytes(extents(app).n, size_of(app));
}
std::int64_t qr_scratch(const Application& app) {
  return rml_lapack_qr_bytes(extents(app).m, extents(app).n, size_of(app));
}
std::int64_t svd_scratch(const Application& app) {
  return rml_lapack_svd_bytes(extents(app).m, extents(app).n, size_of(app));
}
std::int64_t eigh_scratch(const Application& app) { return rml_lapack_eigh_bytes(extents(app).n, size_of(app)); }

OperatorInfo can_fail(OperatorInfo info, std::string_view failure, MatrixForm form = MatrixForm::none) {
  info.can_fail = true;
  info.failure = failure;
  info.matrix = form;
  return info;
}

constexpr std::string_view singular = "the matrix is singular";
constexpr std::string_view diverging = "the singular values or eigenvalues do not converge";

constexpr std::string_view indefinite = "the matrix is not positive definite";

// The pivots of an elimination, of which `Bad` ones stop the run.
template <class Bad>
Fault evaluate_pivots(const Application& app, const EvaluationContext& context, pointwise_rows::Operands in,
                      Tensor& result) {
  bool found = false;
  kernels::dispatch<real>(in[0]->dtype(), [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>)
      found = std::any_of(in[0]->as<T>(), in[0]->as<T>() + in[0]->elements(), Bad{});
  });
  if (found) return {RML_FAULT_NUMERIC, 0, 0};
  return pointwise_rows::unary<real, scalar::NonzeroPivot>(app, context, in, result);
}
struct IsZero {
  bool operator()(auto x) const { return x == 0; }
};
struct IsNotPositive {
  bool operator()(auto x) const { return !(x > 0); }
};

template <class F, class Bad>
OperatorInfo pivot_row(std::string_view name, std::string_view failure, RowText text) {
  OperatorInfo info =
      pointwise_rows::function<real, F>(name, {ScalarOp::other, pointwise_rows::instruction}, "dy", text);
  info.evaluate = evaluate_pivots<Bad>;
  return can_fail(std::move(info), failure);
}

std::vector<OperatorInfo> pivot_rows() {
  return {
      pivot_row<scalar::NonzeroPivot, IsZero>(
          "nonzero_pivot", singular,
          {"", "x. An element that is 0, as a pivot of an elimination with a singular matrix, stops the run.",
           "nonzero_pivot([2.0, -3.0]) -- [2,-3]"}),
      pivot_row<scalar::PositivePivot, IsNotPositive>(
          "positive_pivot", indefinite,
          {"",
           "x. An element that is not greater than 0, as a pivot of a matrix that is not positive definite, stops the "
           "run.",
           "positive_pivot([2.0, 3.0]) -- [2,3]"}),
  };
}

std::vector<OperatorInfo> system_rows() {
  const std::vector<OperatorParameter> operands = {operand("a", real), operand("b", real)};
  std::vector<OperatorParameter> triangular = operands;
  triangular.push_back(integers("lower", "1"));
  triangular.push_back(integers("unit", "0"));
  return {
      can_fail(
          kernel_row<rml_lapack_solve, solve_scratch>(
              "solve", "rml_lapack_solve", operands, same(real), solve_shape,
              {"-sum_to(matmul(solve(transpose(a, axes=[-1, -2]), reshape(shape(matmul(a, as_column(b))), dy)), "
               "transpose(reshape(shape(matmul(a, as_column(b))), y), axes=[-1, -2])), shape(a))",
               "reshape(shape(b), sum_to(solve(transpose(a, axes=[-1, -2]), reshape(shape(matmul(a, as_column(b))), "
               "dy)), shape(as_column(b))))"},
              {"",
               "The solution x of a x = b, by elimination with pivots. a is square, and b is a vector or a matrix of "
               "right-hand sides. Leading axes are batches and broadcast. A singular matrix stops the run.",
               "solve([[2.0, 0.0], [0.0, 4.0]], [1.0, 2.0]) -- [0.5,0.5]"}),
          singular, MatrixForm::solve),
      can_fail(
          kernel_row<rml_lapack_triangular_solve, solve_scratch>(
              "triangular_solve", "rml_lapack_triangular_solve", triangular, same(real), triangular_solve_shape,
              {"-select(logical_or(logical_and(unit == 0, eq(expand_dims(iota(size(a, axis=-1)), 1), iota(size(a, "
               "axis=-1)))), "
               "gt((2 * lower - 1) * expand_dims(iota(size(a, axis=-1)), 1), (2 * lower - 1) * iota(size(a, "
               "axis=-1)))), "
               "sum_to(matmul(triangular_solve(transpose(a, axes=[-1, -2]), reshape(shape(matmul(a, as_column(b))), "
               "dy), lower=1 - lower, unit=unit), "
               "transpose(reshape(shape(matmul(a, as_column(b))), y), axes=[-1, -2])), shape(a)), zeros_like(a))",
               "reshape(shape(b), sum_to(triangular_solve(transpose(a, axes=[-1, -2]), reshape(shape(matmul(a, "
               "as_column(b))), dy), lower=1 - lower, unit=unit), shape(as_column(b))))"},
              {"",
               "The solution of a x = b for a triangular matrix a. Only the lower triangle is read, or the upper one "
               "with lower=0. With unit=1 its diagonal counts as ones. A zero on the diagonal stops the run.",
               "triangular_solve([[2.0, 9.0], [1.0, 4.0]], [2.0, 5.0]) -- [1,1]"}),
          singular, MatrixForm::triangular_solve),
      can_fail(kernel_row<rml_lapack_inverse, factor_scratch>(
                   "inverse", "rml_lapack_inverse", {operand("a", real)}, same(real), square_shape,
                   {"-matmul(transpose(y, axes=[-1, -2]), matmul(dy, transpose(y, axes=[-1, -2])))"},
                   {"",
                    "The inverse of each square matrix. To multiply by an inverse, solve is faster and more accurate. "
                    "A singular matrix stops the run.",
                    "inverse([[2.0, 0.0], [0.0, 4.0]]) -- [0.5,0;0,0.25]"}),
               singular, MatrixForm::inverse),
      can_fail(
          kernel_row<rml_lapack_matrix_power, factor_scratch>(
              "matrix_power", "rml_lapack_matrix_power", {operand("a", real), integers("n")}, same(real), power_shape,
              {"slice(matrix_power(concat(concat(transpose(a, axes=[-1, -2]), dy, axis=-1), concat(zeros_like(a), "
               "transpose(a, axes=[-1, -2]), axis=-1), axis=-2), n), "
               "starts=part_starts(a, a, part=1, axis=-1), stops=part_starts(a, a, part=1, axis=-1) + shape(a))"},
              {"",
               "The power n of the square matrix a; n is static. If n < 0, it is a power of the inverse, and a "
               "singular matrix stops the run. If n = 0, it is the identity.",
               "matrix_power([[1.0, 1.0], [0.0, 1.0]], 3) -- [1,3;0,1]"}),
          singular, MatrixForm::power),
  };
}

std::vector<OperatorInfo> determinant_rows() {
  return {
      kernel_row<rml_lapack_det, factor_scratch>(
          "det", "rml_lapack_det", {operand("a", real)}, same(real), batch_shape,
          {"expand_dims(dy, [-1, -2]) * cofactor(a)"},
          {"Det", "The determinant of each square matrix; 1 for a matrix without elements.",
           "det([[1.0, 2.0], [3.0, 5.0]]) -- -1"}),
      can_fail(kernel_row<rml_lapack_cofactor, cofactor_scratch>(
                   "cofactor", "rml_lapack_cofactor", {operand("a", real)}, same(real), square_shape,
                   {"expand_dims(sum(dy * y, axis=[-1, -2]), [-1, -2]) * transpose(inverse(a), axes=[-1, -2]) - "
                    "matmul(y, matmul(transpose(dy, axes=[-1, -2]), transpose(inverse(a), axes=[-1, -2])))"},
                   {"",
                    "The derivative of det with respect to each element, also for singular matrices; for others it is "
                    "det(a) times the transposed inverse. The gradient of this operator needs the inverse.",
                    "cofactor([[0.0, 2.0], [0.0, 0.0]]) -- [0,0;-2,0]"}),
               diverging),
      kernel_row<rml_lapack_slogdet, factor_scratch>(
          "slogdet_parts", "rml_lapack_slogdet", {operand("a", real)}, same(real), pair_shape,
          {"expand_dims(sum(dy * [0.0, 1.0], axis=-1), [-1, -2]) * transpose(inverse(a), axes=[-1, -2])"},
          {"",
           "The sign of each determinant and the logarithm of its absolute value, on a last axis of extent 2 "
           "(linalg.slogdet returns the two separately). For a singular matrix they are 0 and -inf; it has no "
           "gradient, so computing the gradient stops the run.",
           "slogdet_parts([[0.0, 1.0], [1.0, 0.0]]) -- [-1,0]"}),
  };
}

std::vector<OperatorInfo> factor_rows() {
  return {
      can_fail(kernel_row<rml_lapack_cholesky>(
                   "cholesky", "rml_lapack_cholesky", {operand("a", real)}, same(real), square_shape,
                   {"0.5 * triangular_solve(transpose(y, axes=[-1, -2]), transpose(triangular_solve(transpose(y, "
                    "axes=[-1, -2]), select(ge(expand_dims(iota(size(y, axis=-1)), 1), iota(size(y, axis=-1))), "
                    "matmul(transpose(y, axes=[-1, -2]), dy), transpose(matmul(transpose(y, axes=[-1, -2]), dy), "
                    "axes=[-1, -2])), lower=0), axes=[-1, -2]), lower=0)"},
                   {"",
                    "The lower triangular matrix L with a positive diagonal for which L Lᵀ = (a + aᵀ) / 2; this is a "
                    "if a is symmetric. A matrix that is not positive definite stops the run.",
                    "cholesky([[4.0, 2.0], [2.0, 10.0]]) -- [2,0;1,3]"}),
               indefinite, MatrixForm::cholesky),
      kernel_row<rml_lapack_qr, qr_scratch>(
          "qr_parts", "rml_lapack_qr", {operand("a", real)}, same(real), qr_shape,
          {"none: it packs several results together; linalg.qr, which separates them, has the gradient"},
          {"",
           "The reduced QR decomposition of each m × n matrix, as one vector. With k = min(m, n), it contains the m k "
           "elements of Q, then the k n elements of R (linalg.qr returns the two separately).",
           "shape(qr_parts([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])) -- [10]"}),
      can_fail(kernel_row<rml_lapack_svd, svd_scratch>(
                   "svd_parts", "rml_lapack_svd", {operand("a", real)}, same(real), svd_shape,
                   {"none: it packs several results together; linalg.svd, which separates them, has the gradient"},
                   {"",
                    "The reduced singular value decomposition of each m × n matrix, as one vector. With k = min(m, n), "
                    "it contains the m k elements of U, the k singular values in descending order, and the k n "
                    "elements of Vᵀ (linalg.svd returns the three separately).",
                    "shape(svd_parts([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])) -- [12]"}),
               diverging),
      can_fail(kernel_row<rml_lapack_eigh, eigh_scratch>(
                   "eigh_parts", "rml_lapack_eigh", {operand("a", real)}, same(real), eigh_shape,
                   {"none: it packs several results together; linalg.eigh, which separates them, has the gradient"},
                   {"",
                    "The eigenvalues and eigenvectors of each symmetric n × n matrix, as one vector: the n eigenvalues "
                    "in ascending order, then the n n elements of the matrix whose columns are the eigenvectors "
                    "(linalg.eigh returns the two separately). If a is not symmetric, they are those of (a + aᵀ) / 2.",
                    "shape(eigh_parts([[1.0, 2.0], [2.0, 4.0]])) -- [6]"}),
               diverging),
  };
}

}  // namespace

std::vector<OperatorInfo> decomposition_operators() {
  std::vector<OperatorInfo> rows = system_rows();
  rows[2].aliases = {"inv"};
  for (OperatorInfo& info : pivot_rows()) rows.push_back(std::move(info));
  for (OperatorInfo& info : determinant_rows()) rows.push_back(std::move(info));
  for (OperatorInfo& info : factor_rows()) rows.push_back(std::move(info));
  return rows;
}

}  // namespace rml
