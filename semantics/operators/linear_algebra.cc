// Products of vectors and matrices.
//
// Each element of a product is a sum of products in increasing order of the contracted index k,
// in the operands' dtype and without fused multiply-add. The sum begins with the first product;
// an empty sum is 0. Generated code keeps this order where results must be equal bit for bit. The
// gradient of matmul is written for all ranks at once: a vector operand is treated as a row or a
// column, and the shape computations fold away.
#include "semantics/operators/kernels.h"
#include "semantics/operators/rules.h"
#include "semantics/operators/scalar.h"

namespace rml {

namespace {

using Operands = std::span<const Tensor* const>;
using dtypes::element, dtypes::number;

ShapeResult matmul_shape(const Application& app) {
  const Shape &a = app.operand_shapes[0], &b = app.operand_shapes[1];
  if (a.empty() || b.empty()) return "matmul takes vectors or matrices, not a scalar: write a * b";
  const std::int64_t inner = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (a.back() != inner) return "inner dimensions differ: " + to_string(a) + " and " + to_string(b);
  const Shape batch_a(a.begin(), a.end() - (a.size() == 1 ? 1 : 2));
  const Shape batch_b(b.begin(), b.end() - (b.size() == 1 ? 1 : 2));
  auto shape = broadcast(batch_a, batch_b);
  if (!shape) return "batch dimensions do not broadcast: " + to_string(a) + " and " + to_string(b);
  if (a.size() > 1) shape->push_back(a[a.size() - 2]);
  if (b.size() > 1) shape->push_back(b.back());
  return checked_shape(std::move(*shape));
}

// c[m, n] = a[m, k] b[k, n], all dense. k is the middle loop, so that the inner loop runs along
// rows while each element is still summed in the order of k.
template <class T>
void multiply(const T* a, const T* b, T* c, std::int64_t m, std::int64_t inner, std::int64_t n) {
  for (std::int64_t i = 0; i < m; ++i) {
    T* out = c + i * n;
    for (std::int64_t j = 0; j < n; ++j) out[j] = inner > 0 ? scalar::Mul{}(a[i * inner], b[j]) : T(0);
    for (std::int64_t k = 1; k < inner; ++k) {
      const T factor = a[i * inner + k];
      for (std::int64_t j = 0; j < n; ++j) out[j] = scalar::Add{}(out[j], scalar::Mul{}(factor, b[k * n + j]));
    }
  }
}

// A product whose right operand has one column: the sum of a row stays in a register.
template <class T>
void multiply_vector(const T* a, const T* b, T* c, std::int64_t m, std::int64_t inner) {
  for (std::int64_t i = 0; i < m; ++i) {
    T sum = inner > 0 ? scalar::Mul{}(a[i * inner], b[0]) : T(0);
    for (std::int64_t k = 1; k < inner; ++k) sum = scalar::Add{}(sum, scalar::Mul{}(a[i * inner + k], b[k]));
    c[i] = sum;
  }
}

Fault evaluate_matmul(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  Shape a = in[0]->shape(), b = in[1]->shape();
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  const std::int64_t m = a[a.size() - 2], inner = a.back(), n = b.back();
  if (result.elements() == 0) return {};
  const Shape batch_a(a.begin(), a.end() - 2), batch_b(b.begin(), b.end() - 2);
  const Shape batch = *broadcast(batch_a, batch_b);
  const std::array<kernels::Strides, 2> strides = {kernels::broadcast_strides(batch_a, batch),
                                                   kernels::broadcast_strides(batch_b, batch)};
  kernels::dispatch<number>(result.dtype(), [&]<class T>(T) {
    kernels::walk<2>(batch, strides, [&](const kernels::Row<2>& row) {
      for (std::int64_t i = 0; i < row.count; ++i) {
        const T* x = in[0]->as<T>() + (row.offset[0] + i * row.stride[0]) * m * inner;
        const T* y = in[1]->as<T>() + (row.offset[1] + i * row.stride[1]) * inner * n;
        T* out = result.as<T>() + (row.first + i) * m * n;
        if (n == 1)
          multiply_vector(x, y, out, m, inner);
        else
          multiply(x, y, out, m, inner, n);
      }
    });
  });
  return {};
}

ShapeResult outer_shape(const Application& app) {
  const Shape &a = app.operand_shapes[0], &b = app.operand_shapes[1];
  if (a.size() != 1 || b.size() != 1) return "outer takes two vectors, not " + to_string(a) + " and " + to_string(b);
  return checked_shape({a[0], b[0]});
}

Fault evaluate_outer(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  kernels::dispatch<number>(result.dtype(), [&]<class T>(T) {
    multiply(in[0]->as<T>(), in[1]->as<T>(), result.as<T>(), in[0]->elements(), 1, in[1]->elements());
  });
  return {};
}

ShapeResult dot_shape(const Application& app) {
  const Shape &a = app.operand_shapes[0], &b = app.operand_shapes[1];
  if (a.size() != 1 || b.size() != 1) return "dot takes two vectors, not " + to_string(a) + " and " + to_string(b);
  if (a != b) return "inner dimensions differ: " + to_string(a) + " and " + to_string(b);
  return Shape{};
}

Fault evaluate_dot(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  kernels::dispatch<number>(result.dtype(), [&]<class T>(T) {
    multiply_vector(in[0]->as<T>(), in[1]->as<T>(), result.as<T>(), 1, in[0]->elements());
  });
  return {};
}

ShapeResult as_row_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  return x.size() == 1 ? Shape{1, x[0]} : x;
}

ShapeResult as_column_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  return x.size() == 1 ? Shape{x[0], 1} : x;
}

Fault copy(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  if (result.bytes() > 0) std::memcpy(result.data(), in[0]->data(), result.bytes());
  return {};
}

}  // namespace

std::vector<OperatorInfo> linear_algebra_operators() {
  return {
      row("matmul", {operand("a", number), operand("b", number)}, same(number), matmul_shape, evaluate_matmul,
          Lowering::matmul,
          {"reshape(shape(a), sum_to(matmul(reshape(shape(matmul(as_row(a), as_column(b))), dy), "
           "transpose(as_column(b), axes=[-1, -2])), shape(as_row(a))))",
           "reshape(shape(b), sum_to(matmul(transpose(as_row(a), axes=[-1, -2]), "
           "reshape(shape(matmul(as_row(a), as_column(b))), dy)), shape(as_column(b))))"},
          {"MatMul",
           "The matrix product, as in NumPy. Two vectors give a scalar, and a matrix and a vector give a vector. "
           "Leading axes are batches and broadcast. Each sum runs in increasing order of the inner index.",
           "matmul([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]) -- [3,7]"}),
      row("outer", {operand("a", number), operand("b", number)}, same(number), outer_shape, evaluate_outer,
          Lowering::outer, {"matmul(dy, b)", "matmul(a, dy)"},
          {"", "The matrix of the products of all pairs of elements of two vectors.",
           "outer([1, 2], [3, 4, 5]) -- [3,4,5;6,8,10]"}),
      row("dot", {operand("a", number), operand("b", number)}, same(number), dot_shape, evaluate_dot, Lowering::dot,
          {"dy * b", "dy * a"},
          {"", "The inner product of two vectors of equal length.", "dot([1, 2, 3], [4, 5, 6]) -- 32"}),
      row("as_row", {operand("x", element)}, same(element), as_row_shape, copy, Lowering::reshape,
          {"reshape(shape(x), dy)"},
          {"", "A vector becomes a matrix with one row; any other tensor remains as it is.",
           "as_row([1, 2]) -- [1,2]"}),
      row("as_column", {operand("x", element)}, same(element), as_column_shape, copy, Lowering::reshape,
          {"reshape(shape(x), dy)"},
          {"", "A vector becomes a matrix with one column; any other tensor remains as it is.",
           "as_column([1, 2]) -- [1;2]"}),
  };
}

}  // namespace rml
