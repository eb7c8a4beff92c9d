// The operator table: all facts about each operator, in one place.
//
// A row states how an operator is written, the dtypes and shapes of its operands and results, how
// it is evaluated (the reference semantics, also used for constant folding), lowered and
// differentiated, its ONNX counterpart, and a line of documentation. The type checker,
// instantiation, the reference engine, the code generator, `rmlc explain` and the reference page
// all read these rows. A new elementwise operator needs one row and one test. The rows are in
// semantics/operators/*.cc, one file per family.
//
// In the source an operator is called like a node, `matmul(a, b)`, or by special syntax: `a + b`
// is `add(a, b)`, `x[1:3]` is `slice`. It has two kinds of parameters. Operands are streams that
// share one clock. Attributes are static: they must fold to constants after instantiation and
// have no clock.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/kernels/kernel.h"
#include "semantics/values/type.h"

namespace rml {

// The dtype of a parameter or result. variable >= 0: a variable of the row, restricted to a set.
// variable < 0: the single dtype in the set. If only the result has the variable (zeros, uniform,
// one_hot), the context determines it, else it is `fallback`.
struct DTypeSlot {
  int variable = 0;
  DTypeSet allowed = dtypes::any;
  DType fallback = DType::f32;
};

// Sets of dtypes for rows. f16 and bf16 are stored, moved, compared and converted, but not
// computed with.
namespace dtypes {
inline constexpr DTypeSet half = bit(DType::f16) | bit(DType::bf16);
inline constexpr DTypeSet real = floating & ~half;  // f32, f64
inline constexpr DTypeSet number = integer | real;
inline constexpr DTypeSet ordered = number | half;
inline constexpr DTypeSet element = boolean | ordered;  // all dtypes that operators accept
}  // namespace dtypes

enum class ParameterKind : std::uint8_t {
  operand,
  integers,  // an integer or a vector of integers: shapes, axes, strides
  number,    // any numeric scalar, converted to f64
  dtype,     // a dtype's name, which is the dtype of the result: cast(f32, x)
  text,      // a string: einsum("ij,jk->ik", a, b)
};

struct OperatorParameter {
  std::string_view name;
  ParameterKind kind = ParameterKind::operand;
  DTypeSlot dtype{};      // for operands only: the slot of the operand's dtype
  bool variadic = false;  // the last operand may occur once or more (concat, array)
  // For attributes: the default if the argument is left out; "" makes the argument required.
  // Values: "0", "[]", "all" (every axis), "f32".
  std::string_view default_value{};
};

// The known value of an attribute.
struct Attribute {
  bool given = false;   // false: the attribute is left out, and its default is "all"
  bool scalar = false;  // for integers: written as a scalar, not as a vector
  std::vector<std::int64_t> integers;
  double number = 0;
  DType dtype = DType::f32;
  std::string text{};
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

// One application of an operator, for rules and kernels. operand_shapes has one entry per operand
// (variadic ones expanded); attributes has one per attribute parameter, in row order.
struct Application {
  std::span<const DType> operand_dtypes;
  std::span<const Shape> operand_shapes;
  std::span<const Attribute> attributes;
  DType result_dtype{};
};

// A result shape, or an error in the user's words ("inner dimensions differ: [3, 4] and [5]").
using ShapeResult = std::variant<Shape, std::string>;
using ShapeRule = ShapeResult (*)(const Application&);

// The reason for which an evaluation failed; the values are RML_FAULT_… of rmlrt.h.
struct Fault {
  int kind = 0;
  std::int64_t value = 0, bound = 0;
};

// Further inputs of random operators: the run's seed and the key of their instance. The cycle is
// an ordinary operand.
struct EvaluationContext {
  std::uint64_t seed = 0;
  std::uint64_t key = 0;
};

// Computes the result, which already has its dtype and shape. In the elementwise family, the
// kernel broadcasts the operands.
using Evaluate = Fault (*)(const Application&, const EvaluationContext&, std::span<const Tensor* const> operands,
                           Tensor& result);

// The scalar operation of an `elementwise` row, applied to each element after broadcasting. Other
// rows have their own loop generator in lowering. An operation has a name here if bodies are
// composed of it (spelling.h), if code is written for it (lowering/llvm/scalars/functions.cc), or
// if passes look for it.
enum class ScalarOp : std::uint8_t {
  none,
  add,
  sub,
  mul,
  div,
  mod,
  negate,
  abs,
  sign,
  floor,
  ceil,
  round,
  exp,
  log,
  sqrt,
  pow,
  sin,
  cos,
  tanh,
  sigmoid,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  logical_and,
  logical_or,
  logical_not,
  select,
  cast,
  identity,
  log1p,
  expm1,
  log2,
  log10,
  exp2,
  erf,
  trunc,
  softplus,
  copysign,
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  left_shift,
  right_shift,
  other,  // the operator is defined by its body only
};
// The cost of the operation per element, in the classes of the cost model (lowering/target.h).
enum class Effort : std::uint8_t {
  instruction,  // one or two instructions for any operand types; cheaper than a mispredicted branch
  simple,       // a few
  division,     // for integers with a check of the divisor
  remainder,
  root,
  elementary,  // 10 to 20 instructions without a branch; a call at -O0 and --strict-math
  circular,    // like `elementary`, but a call for large operands
  power,
  call,  // a function of the C library
};
// The operand types for which a vector operation computes the same as the scalar one, element by
// element.
enum class Vectors : std::uint8_t { of_none, of_floats, of_all };

enum class Lowering : std::uint8_t {
  elementwise,
  matmul,
  outer,
  dot,
  transpose,
  reshape,
  concat,
  array,
  slice,
  index,
  broadcast,
  reduce_sum,
  reduce_mean,
  reduce_min,
  reduce_max,
  reduce_prod,
  reduce_all,
  reduce_any,
  argmax,
  argmin,
  fill,
  iota,
  one_hot,
  // A runtime kernel, OperatorInfo::kernel. The row's numeric attributes, in order, are the
  // kernel's a and b, or 0.
  random,
  kernel,       // calls OperatorInfo::kernel, a C function of runtime/kernels/kernel.h
  parameter,    // yields the value loaded for the parameter's key, if any, else the operand
  folded,       // never reaches code generation: shape, zeros with constant shape, …
  sum_to,       // sums the axes along which the result broadcasts to the operand
  place,        // zeros, with operand 0 at the index given by the other operands
  place_slice,  // zeros, with operand 0 at the positions that slice would read
  expanded,     // never reaches code generation: replaced by OperatorInfo::definition
  move,         // the strided copies of OperatorInfo::moves
  sum_moves,    // the copies of `move` in reverse, with sums where elements meet
  contraction,  // einsum: replaced by other operators during instantiation (contraction.h)
};

// Forms that combine the elements of their operand into fewer elements.
constexpr bool is_reduction(Lowering l) {
  return l == Lowering::reduce_sum || l == Lowering::reduce_mean || l == Lowering::reduce_min ||
         l == Lowering::reduce_max || l == Lowering::reduce_prod || l == Lowering::reduce_all ||
         l == Lowering::reduce_any || l == Lowering::sum_to;
}

// True if a result of constants with this many elements should become a constant: always if it is
// small; if it is large, only if it takes no more space than its operands and one pass over them.
constexpr bool worth_folding(Lowering l, std::int64_t result, std::int64_t operands) {
  constexpr std::int64_t small = 65536;
  const bool one_pass = l == Lowering::elementwise || l == Lowering::transpose || l == Lowering::reshape ||
                        l == Lowering::concat || l == Lowering::slice || l == Lowering::index || l == Lowering::move ||
                        is_reduction(l);
  return result <= small || l == Lowering::folded || (one_pass && result <= operands);
}

// The form of a `kernel` row that slides windows over its operand. Back ends have code for each form, and passes look
// for forms, so a further operator of a form needs a row only.
enum class WindowForm : std::uint8_t {
  none,
  convolution,
  transposed_convolution,
  input_gradient,  // of a convolution
  filter_gradient,
  max_pool,
  max_pool_gradient,
  sum_pool,
  sum_pool_gradient,
  average_pool,
  average_pool_gradient,
  windows_as_columns,
  columns_as_windows,  // the adjoint, with sums where windows overlap
};
constexpr bool is_convolution(WindowForm f) {
  return f == WindowForm::convolution || f == WindowForm::transposed_convolution || f == WindowForm::input_gradient ||
         f == WindowForm::filter_gradient;
}
constexpr bool is_pool(WindowForm f) {
  return f == WindowForm::max_pool || f == WindowForm::sum_pool || f == WindowForm::average_pool;
}
constexpr bool is_pool_gradient(WindowForm f) {
  return f == WindowForm::max_pool_gradient || f == WindowForm::sum_pool_gradient ||
         f == WindowForm::average_pool_gradient;
}

// The form of a `kernel` row that is computed without its kernel if the matrices are small
// (semantics/simplify/small_matrices.h).
enum class MatrixForm : std::uint8_t { none, solve, triangular_solve, inverse, cholesky, power };

// A uniform draw between `first` and `second`, or a normal one of this mean and deviation.
struct ScaledDraw {
  bool normal = false;
  double first = 0, second = 0;
};

struct Move;  // defined in moves.h
namespace scalar {
class Term;  // defined in spelling.h
}

struct OperatorInfo {
  std::string_view name;
  std::vector<std::string_view> aliases;  // other accepted names
  // In the order of a call: operands first or attributes first.
  std::vector<OperatorParameter> parameters;
  DTypeSlot result;
  ShapeRule shape;
  Evaluate evaluate;
  Lowering lowering;
  ScalarOp scalar = ScalarOp::none;
  // For elementwise operators: writes the code of an element (spelling.h).
  scalar::Term (*body)(std::span<const scalar::Term> operands) = nullptr;
  // For elementwise operators: cost of an element.
  Effort effort = Effort::simple;
  // For elementwise operators: dtypes that have vector instructions.
  Vectors vectors = Vectors::of_none;
  std::string_view function{};  // for elementwise operators without a body: the C function for doubles
  std::string_view kernel{};    // C symbol of a runtime kernel, if any
  // Lowering::kernel: bytes of scratch space; null: none.
  std::int64_t (*scratch)(const Application&) = nullptr;
  std::vector<Move> (*moves)(const Shape& x, std::span<const Attribute>) = nullptr;
  std::string_view failure = "index out of bounds";  // the reason that a stop reports, if `can_fail` is true
  // For Lowering::expanded: returns an equivalent R(ML)² expression over the names of the
  // parameters.
  std::string_view (*definition)(const Application&) = nullptr;
  WindowForm window = WindowForm::none;  // for Lowering::kernel
  MatrixForm matrix = MatrixForm::none;  // for Lowering::kernel
  // For Lowering::random: the draw that has the distribution of each element, for the fans of the shape; null: the
  // attributes determine the distribution.
  ScaledDraw (*scaled_draw)(const Shape&) = nullptr;
  bool drawn_whole = false;  // for Lowering::random: the elements depend on each other
  bool in_place = false;     // for Lowering::kernel: the result may overwrite the first operand
  // May stop the run (division, indexing, …); see can_fail(core, v) of core.h.
  bool can_fail = false;
  bool random = false;  // has a hidden last operand `cycle` (i64)
  bool commutative = false;
  // One entry per operand: its adjoint as an R(ML)² expression over the parameter names, `y` (the
  // result) and `dy` (its adjoint), before the sum over broadcast axes; or "none: REASON". In
  // it, `k=a` with an attribute a whose default is "all" is left out if the user left out a. For
  // a variadic operand x, `x` is the differentiated one, `x...` all of them, and `part` its
  // position, a literal.
  std::vector<std::string_view> vjp;
  std::string_view onnx{};   // "Add", "ReduceSum", …; empty: no counterpart
  std::string_view doc;      // one line: meaning, shapes, errors
  std::string_view example;  // an expression with its value: "add(1, 2) -- 3"
};

using OperatorId = std::uint16_t;

class OperatorTable {
 public:
  OperatorTable();  // creates a table with the rows of all families
  const OperatorInfo& operator[](OperatorId id) const { return rows_[id]; }
  std::size_t size() const { return rows_.size(); }
  std::optional<OperatorId> find(std::string_view name) const;  // finds an operator by its name or an alias
  OperatorId require(std::string_view name) const;              // the operator with this name, which must exist
  std::vector<std::string> names() const;

 private:
  std::vector<OperatorInfo> rows_;
  std::vector<std::pair<std::string_view, OperatorId>> index_;  // names and aliases, sorted
};

// The table; immutable after its first use.
const OperatorTable& operators();

// The meaning of attributes once shapes are known, for rules, kernels and code generation. The
// arguments must have passed the operator's shape rule.

// axis in [0, rank), or nothing; negative ones count from the end.
std::optional<std::size_t> normalized_axis(std::int64_t axis, std::size_t rank);

// The lines of a tensor along one axis, or one line of all its elements in row-major order.
struct AxisLines {
  std::int64_t before = 1, extent = 1, after = 1;
  AxisLines(const Shape& shape, const Attribute& axis) {
    const std::size_t along = axis.given ? *normalized_axis(axis.integers[0], shape.size()) : SIZE_MAX;
    for (std::size_t k = 0; k < shape.size(); ++k)
      (along == SIZE_MAX || k == along ? extent : k < along ? before : after) *= shape[k];
  }
};

// The axes of a transposition: axis k of the result is axis result[k] of the operand.
std::vector<std::size_t> transposed_axes(const Application&);
// Reductions: by axis of the operand, whether it is reduced; nothing if the attribute is wrong.
std::optional<std::vector<bool>> reduced_axes(const Attribute& axis, std::size_t rank);
// The integers that a kernel receives for an attribute (runtime/kernels/kernel.h).
std::vector<std::int64_t> kernel_integers(const Attribute&);
// x[a:b:c], slice and place_slice: along an axis of `whole` the elements start, start + step, …
struct SliceRange {
  std::int64_t start = 0, count = 0, step = 1;
};
// NumPy's rule: negative bounds count from the end, and a bound that is left out is the end on
// its side. Unlike in NumPy, a bound must be within the axis. An error begins with the range as
// it is written.
std::variant<SliceRange, std::string> slice_range(const Shape& whole, std::size_t axis,
                                                  std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                                                  std::int64_t step);
// Returns the ranges of a slice. `bounds` are the attributes starts, stops and steps; INT64_MAX
// means left out.
std::variant<std::vector<SliceRange>, std::string> slice_ranges(const Shape& whole, std::span<const Attribute> bounds);

// The reference page of all operators, as Markdown.
std::string operator_reference();

// One function per family; each returns its rows (semantics/operators/<family>.cc).
std::vector<OperatorInfo> elementwise_operators();
// Further elementwise operators: logarithms, angles, bits, clip.
std::vector<OperatorInfo> function_operators();
std::vector<OperatorInfo> linear_algebra_operators();
std::vector<OperatorInfo> structural_operators();  // shape changes, concat, array, slice, index, …
std::vector<OperatorInfo> reduction_operators();
std::vector<OperatorInfo> expanded_operators();      // softmax, var, norm, …: by their definitions
std::vector<OperatorInfo> construction_operators();  // zeros, ones, full, iota, one_hot, shape
std::vector<OperatorInfo> random_operators();
std::vector<OperatorInfo> indexing_operators();       // gather, scatter, sort, cumsum, pad, roll, …
std::vector<OperatorInfo> convolution_operators();    // convolutions, pooling, im2col
std::vector<OperatorInfo> decomposition_operators();  // solve, cholesky, qr, svd, …
std::vector<OperatorInfo> transform_operators();      // Fourier transforms, CTC

}  // namespace rml
