// Rows of the operators of moves.h: padding, tiling, rolling, diagonals, and their adjoints.
//
// Each `sum_…` is the adjoint of the operator in its name: each element is the sum of the
// elements that the operator would have copied from there.
#include "semantics/operators/indexing.h"
#include "semantics/operators/kernels.h"
#include "semantics/operators/moves.h"
#include "semantics/operators/rules.h"
#include "semantics/operators/scalar.h"

namespace rml {

namespace {

using Operands = std::span<const Tensor* const>;
using MovesOf = std::vector<Move> (*)(const Shape&, std::span<const Attribute>);
using dtypes::element, dtypes::number;

// Calls f(to, from, count, to step, from step) for each innermost row of the move.
template <class F>
void each_row(const Move& move, F&& f) {
  const std::size_t rank = move.shape.size();
  if (rank == 0) return f(move.to, move.from, std::int64_t{1}, std::int64_t{0}, std::int64_t{0});
  std::vector<std::int64_t> at(rank, 0);
  std::int64_t to = move.to, from = move.from;
  for (;;) {
    f(to, from, move.shape.back(), move.to_strides.back(), move.from_strides.back());
    std::size_t k = rank - 1;
    for (;;) {
      if (k-- == 0) return;
      to += move.to_strides[k];
      from += move.from_strides[k];
      if (++at[k] < move.shape[k]) break;
      to -= move.to_strides[k] * move.shape[k];
      from -= move.from_strides[k] * move.shape[k];
      at[k] = 0;
    }
  }
}

// `fill` is the position of the attribute `value`, or -1 if there is none.
template <MovesOf moves, int fill = -1>
Fault evaluate_moves(const Application& app, const EvaluationContext&, Operands in, Tensor& result) {
  kernels::dispatch<element>(result.dtype(), [&]<class T>(T) {
    T* out = result.as<T>();
    const T* x = in[0]->as<T>();
    const double value = fill < 0 ? 0 : app.attributes[static_cast<std::size_t>(std::max(fill, 0))].number;
    std::fill_n(out, result.elements(), static_cast<T>(value));
    for (const Move& move : moves(in[0]->shape(), app.attributes)) {
      each_row(move, [&](std::int64_t to, std::int64_t from, std::int64_t n, std::int64_t dt, std::int64_t df) {
        for (std::int64_t i = 0; i < n; ++i) out[to + i * dt] = x[from + i * df];
      });
    }
  });
  return {};
}

template <MovesOf moves>
Fault evaluate_sum(const Application& app, const EvaluationContext&, Operands in, Tensor& result) {
  kernels::dispatch<number>(result.dtype(), [&]<class T>(T) {
    T* out = result.as<T>();
    const T* x = in[0]->as<T>();
    std::fill_n(out, result.elements(), T(0));
    for (const Move& move : moves(result.shape(), app.attributes.subspan(1))) {
      each_row(move, [&](std::int64_t to, std::int64_t from, std::int64_t n, std::int64_t dt, std::int64_t df) {
        for (std::int64_t i = 0; i < n; ++i) out[from + i * df] = scalar::Add{}(out[from + i * df], x[to + i * dt]);
      });
    }
  });
  return {};
}

// The given shape, if the operator would turn it into the operand's shape.
template <ShapeRule forward>
ShapeResult sum_shape(const Application& app) {
  ShapeResult made = shape_attribute(app);
  if (std::holds_alternative<std::string>(made)) return made;
  const Shape shapes[] = {std::get<Shape>(made)};
  ShapeResult part = forward({app.operand_dtypes, shapes, app.attributes.subspan(1), app.result_dtype});
  if (std::holds_alternative<std::string>(part)) return part;
  if (std::get<Shape>(part) != app.operand_shapes[0])
    return "cannot sum " + to_string(app.operand_shapes[0]) + " where there is " + to_string(std::get<Shape>(part));
  return made;
}

template <MovesOf moves, ShapeRule shape, int fill = -1>
OperatorInfo moving(std::string_view name, std::vector<OperatorParameter> attributes, std::string_view vjp,
                    RowText text, std::vector<std::string_view> aliases = {}) {
  attributes.insert(attributes.begin(), operand("x", element));
  OperatorInfo info =
      row(name, std::move(attributes), same(element), shape, evaluate_moves<moves, fill>, Lowering::move, {vjp}, text);
  info.aliases = std::move(aliases);
  info.moves = moves;
  return info;
}

template <MovesOf moves, ShapeRule shape>
OperatorInfo summing(std::string_view name, std::vector<OperatorParameter> attributes, std::string_view vjp,
                     RowText text) {
  attributes.insert(attributes.begin(), {integers("shape"), operand("x", number)});
  OperatorInfo info = row(name, std::move(attributes), same(number), sum_shape<shape>, evaluate_sum<moves>,
                          Lowering::sum_moves, {vjp}, text);
  info.moves = moves;
  return info;
}

ShapeResult eye_shape(const Application& app) {
  const Attribute &n = app.attributes[0], &m = app.attributes[1], &k = app.attributes[2];
  for (const Attribute* a : {&n, &m, &k})
    if (a->given && a->integers.size() != 1) return "an extent must be one integer, not " + to_string(a->integers);
  return checked_constant({n.integers[0], m.given ? m.integers[0] : n.integers[0]});
}

Fault evaluate_eye(const Application& app, const EvaluationContext&, Operands, Tensor& result) {
  const Shape& shape = result.shape();
  const std::int64_t k = app.attributes[2].integers[0];
  kernels::dispatch<number>(result.dtype(), [&]<class T>(T) {
    T* out = result.as<T>();
    for (std::int64_t i = 0; i < shape[0]; ++i)
      for (std::int64_t j = 0; j < shape[1]; ++j) *out++ = T(j - i == k ? 1 : 0);
  });
  return {};
}

std::vector<OperatorParameter> pad_attributes() {
  return {integers("before"), integers("after"), text_attribute("mode", "constant"), number_attribute("value", "0")};
}
std::vector<OperatorParameter> diagonal_attributes() {
  return {integers("offset", "0"), integers("axis1", "0"), integers("axis2", "1")};
}

std::vector<OperatorInfo> copying_rows() {
  return {
      moving<pad_moves, pad_shape, 3>(
          "pad", pad_attributes(), "sum_pad(shape(x), dy, before=before, after=after, mode=mode)",
          {"Pad",
           "x with elements added before and after it along its axes. A width is one integer for every axis, or a "
           "vector with one integer for each leading axis; negative widths remove elements. The mode defines the new "
           "elements: \"constant\" (value), \"edge\", \"reflect\" and \"symmetric\" (mirrored without and with the "
           "edge), \"wrap\".",
           "pad([1, 2, 3], 2, 1, mode=\"reflect\") -- [3,2,1,2,3,2]"}),
      moving<tile_moves, tile_shape>("tile", {integers("reps")}, "sum_tile(shape(x), dy, reps=reps)",
                                     {"Tile",
                                      "Copies of x, joined along each axis; reps gives their number. If reps has fewer "
                                      "numbers than x has axes, they are for the last axes.",
                                      "tile([1, 2], [2, 2]) -- [1,2,1,2;1,2,1,2]"}),
      moving<repeat_moves, repeat_shape>("repeat", {integers("repeats"), integers("axis", "all")},
                                         "sum_repeat(shape(x), dy, repeats=repeats, axis=axis)",
                                         {"",
                                          "Each element of x, repeated along the axis. Without axis, the elements are "
                                          "taken in row-major order, and the result is a vector.",
                                          "repeat([1, 2], 2) -- [1,1,2,2]"}),
      moving<roll_moves, roll_shape>(
          "roll", {integers("shift"), integers("axis", "all")}, "roll(dy, shift=0 - shift, axis=axis)",
          {"",
           "The elements of x, shifted along the axes by shift. Elements that are shifted beyond the end continue at "
           "the start. Without axis, all elements are shifted in row-major order.",
           "roll([1, 2, 3, 4], 1) -- [4,1,2,3]"}),
      moving<flip_moves, flip_shape>("flip", {integers("axis", "all")}, "flip(dy, axis=axis)",
                                     {"", "The elements of x in reverse order along the given axes, or along all axes.",
                                      "flip([1, 2, 3]) -- [3,2,1]"}),
      moving<diagonal_moves, diagonal_shape>("diagonal", diagonal_attributes(),
                                             "sum_diagonal(shape(x), dy, offset=offset, axis1=axis1, axis2=axis2)",
                                             {"",
                                              "The diagonals of the matrices that axis1 and axis2 form, along a new "
                                              "last axis. A positive offset selects a diagonal above the main one.",
                                              "diagonal([[1, 2], [3, 4]]) -- [1,4]"}),
      moving<diag_moves, diag_shape>("diag", {integers("k", "0")}, "sum_diag(shape(x), dy, k=k)",
                                     {"",
                                      "For a vector, the square matrix of zeros with the vector on its k-th diagonal. "
                                      "For a matrix, its k-th diagonal.",
                                      "diag([1, 2]) -- [1,0;0,2]"}),
  };
}

std::vector<OperatorInfo> summing_rows() {
  return {
      summing<pad_moves, pad_shape>(
          "sum_pad", pad_attributes(), "pad(dy, before=before, after=after, mode=mode)",
          {"", "The adjoint of pad: each element of x is added to the element from which pad would copy it.",
           "sum_pad([2], [1, 2, 3, 4], 1, 1, mode=\"edge\") -- [3,7]"}),
      summing<tile_moves, tile_shape>(
          "sum_tile", {integers("reps")}, "tile(dy, reps=reps)",
          {"", "The adjoint of tile: the sum of the copies.", "sum_tile([2], [1, 2, 3, 4], 2) -- [4,6]"}),
      summing<repeat_moves, repeat_shape>("sum_repeat", {integers("repeats"), integers("axis", "all")},
                                          "repeat(dy, repeats=repeats, axis=axis)",
                                          {"", "The adjoint of repeat: for each element, the sum of its repetitions.",
                                           "sum_repeat([2], [1, 2, 3, 4], 2) -- [3,7]"}),
      summing<diagonal_moves, diagonal_shape>(
          "sum_diagonal", diagonal_attributes(), "diagonal(dy, offset=offset, axis1=axis1, axis2=axis2)",
          {"", "The adjoint of diagonal: zeros with x on the diagonal.", "sum_diagonal([2, 2], [1, 2]) -- [1,0;0,2]"}),
      summing<diag_moves, diag_shape>(
          "sum_diag", {integers("k", "0")}, "diag(dy, k=k)",
          {"", "The adjoint of diag: zeros with the vector x on the diagonal, or the diagonal of the matrix x.",
           "sum_diag([2, 3], [1, 2], 1) -- [0,1,0;0,0,2]"}),
      row("eye", {integers("n"), integers("m", "all"), integers("k", "0")}, {0, number, DType::f32}, eye_shape,
          evaluate_eye, Lowering::folded, {},
          {"EyeLike", "The matrix of shape [n, m], or [n, n], with ones on the k-th diagonal and zeros elsewhere.",
           "eye(2, 3, 1) -- [0,1,0;0,0,1]"}),
  };
}

}  // namespace

std::vector<OperatorInfo> rearrangement_operators() {
  std::vector<OperatorInfo> rows = copying_rows();
  for (OperatorInfo& info : summing_rows()) rows.push_back(std::move(info));
  return rows;
}

}  // namespace rml
