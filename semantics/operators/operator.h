// The operator table: the one place that knows an operator.
//
// A row says how an operator is written, which dtypes and shapes it takes and yields, how
// it is evaluated (the reference semantics, also used for constant folding), how it is
// lowered, how it is differentiated, its ONNX counterpart, and a line of documentation.
// The type checker, instantiation, the interpreter, the code generator, `rmlc explain`
// and the reference page all read these rows; adding an elementwise operator is one row
// and one test. Rows live in semantics/operators/*.cc, one file per family.
//
// In the source an operator is called like a node, `matmul(a, b)`, or through the syntax
// that stands for it: `a + b` is `add(a, b)`, `x[1:3]` is `slice`. Its parameters come in
// two kinds: operands are streams that share one clock; attributes are static, must fold
// to constants after instantiation, and take part in no clock.
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

// The dtype of a parameter or result: a variable of the row (0, 1, …) restricted to a set,
// or, with variable < 0, the one dtype in the set. A variable that only the result mentions
// (zeros, uniform, one_hot) is solved by the context, and is `fallback` when nothing decides.
struct DTypeSlot {
  int variable = 0;
  DTypeSet allowed = dtypes::any;
  DType fallback = DType::f32;
};

// What rows allow: f16 and bf16 are stored, moved, compared and converted, but not computed with.
namespace dtypes {
inline constexpr DTypeSet half = bit(DType::f16) | bit(DType::bf16);
inline constexpr DTypeSet real = floating & ~half;  // f32, f64
inline constexpr DTypeSet number = integer | real;
inline constexpr DTypeSet ordered = number | half;
inline constexpr DTypeSet element = boolean | ordered;  // all that operators take
}  // namespace dtypes

enum class ParameterKind : std::uint8_t {
  operand,
  integers,  // an integer or a vector of integers: shapes, axes, strides
  number,    // any numeric scalar, converted to f64
  dtype,     // a dtype's name: cast(f32, x); it is the dtype of the result
  text,      // a string: einsum("ij,jk->ik", a, b)
};

struct OperatorParameter {
  std::string_view name;
  ParameterKind kind = ParameterKind::operand;
  DTypeSlot dtype{};      // operands only
  bool variadic = false;  // the last operand: one or more of it (concat, array)
  // Attributes: used when the argument is left out; "" makes it required. In the syntax of
  // attribute values: "0", "[]", "all" (every axis), "f32".
  std::string_view default_value{};
};

// An attribute's value once it is known.
struct Attribute {
  bool given = false;   // false: left out, and its default is "all"
  bool scalar = false;  // integers: written as a scalar, not as a vector
  std::vector<std::int64_t> integers;
  double number = 0;
  DType dtype = DType::f32;
  std::string text{};
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

// What rules and kernels see of one application. operand_shapes has one entry per operand
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

// Why an evaluation could not go on; the values are those of rmlrt.h's RML_FAULT_….
struct Fault {
  int kind = 0;
  std::int64_t value = 0, bound = 0;
};

// What a pure operator may additionally depend on: random ones read the seed and are told
// the key of their instance; the cycle arrives as an ordinary operand.
struct EvaluationContext {
  std::uint64_t seed = 0;
  std::uint64_t key = 0;
};

// Computes result (already of the right dtype and shape) from the operands; for the
// elementwise family operands are not yet broadcast and the kernel does it.
using Evaluate = Fault (*)(const Application&, const EvaluationContext&, std::span<const Tensor* const> operands,
                           Tensor& result);

// How code is generated. `elementwise` rows have a scalar operation that is applied to each element after broadcasting;
// the other forms have a loop generator each in lowering. Scalar operations have names here that bodies are made of
// (spelling.h), that are written out (lowering/llvm/scalars/functions.cc), or that passes look for.
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
  other,  // its body says all
};
// What the operation takes of one element, in the classes that costs are told of (lowering/target.h).
enum class Effort : std::uint8_t {
  instruction,  // one or two, whatever the operands: cheaper than a jump that is guessed wrong
  simple,       // a few
  division,     // of integers a check as well
  remainder,
  root,
  elementary,  // some ten or twenty instructions without a branch; at -O0 and with --strict-math a call
  circular,    // likewise, but of large operands a call
  power,
  call,  // a function of the C library
};
// Of which operands a vector of elements is computed as one element is.
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
  random,       // runtime kernel; which one: OperatorInfo::kernel; its number attributes in order
                // are the kernel's a and b, 0 where the row has none
  kernel,       // a C function of runtime/kernels/kernel.h: OperatorInfo::kernel
  parameter,    // what was given from outside under the key, if anything, else the operand
  folded,       // never reaches code generation: shape, zeros with constant shape, …
  sum_to,       // sums the axes along which the result's shape broadcasts to the operand's
  place,        // zeros with operand 0 at the index given by the other operands
  place_slice,  // zeros with operand 0 at the places that slice would read
  expanded,     // never reaches code generation: replaced by its OperatorInfo::definition
  move,         // the strided copies of OperatorInfo::moves
  sum_moves,    // the same read backwards, elements that meet added
  contraction,  // einsum: other operators stand for it when core is made (contraction.h)
};

// The forms that walk over their operand and combine its elements into fewer.
constexpr bool is_reduction(Lowering l) {
  return l == Lowering::reduce_sum || l == Lowering::reduce_mean || l == Lowering::reduce_min ||
         l == Lowering::reduce_max || l == Lowering::reduce_prod || l == Lowering::reduce_all ||
         l == Lowering::reduce_any || l == Lowering::sum_to;
}

// A result of constants of so many elements is worth keeping as one: a small one always, a large one
// where it takes no more room than its operands, and no more time than reading them.
constexpr bool worth_folding(Lowering l, std::int64_t result, std::int64_t operands) {
  constexpr std::int64_t small = 65536;
  const bool one_pass = l == Lowering::elementwise || l == Lowering::transpose || l == Lowering::reshape ||
                        l == Lowering::concat || l == Lowering::slice || l == Lowering::index || l == Lowering::move ||
                        is_reduction(l);
  return result <= small || l == Lowering::folded || (one_pass && result <= operands);
}

struct Move;  // moves.h
namespace scalar {
class Term;  // spelling.h
}

struct OperatorInfo {
  std::string_view name;
  std::vector<std::string_view> aliases;      // other accepted spellings
  std::vector<OperatorParameter> parameters;  // operands first or attributes first, as called
  DTypeSlot result;
  ShapeRule shape;
  Evaluate evaluate;
  Lowering lowering;
  ScalarOp scalar = ScalarOp::none;
  scalar::Term (*body)(std::span<const scalar::Term> operands) =
      nullptr;                         // elementwise: as code spells it (spelling.h)
  Effort effort = Effort::simple;      // likewise
  Vectors vectors = Vectors::of_none;  // likewise
  std::string_view function{};         // likewise, without a body: of the C library, by its name for doubles
  std::string_view kernel{};           // C symbol of a runtime kernel, if any
  std::int64_t (*scratch)(const Application&) = nullptr;  // bytes that a Lowering::kernel needs; null: none
  std::vector<Move> (*moves)(const Shape& x, std::span<const Attribute>) = nullptr;
  std::string_view failure = "index out of bounds";  // what stops the run, where can_fail
  // Lowering::expanded: what the application is equal to, as an R(ML)2 expression over the parameter names.
  std::string_view (*definition)(const Application&) = nullptr;
  bool in_place = false;  // Lowering::kernel: the result may lie where the first operand does
  bool can_fail = false;  // division, indexing, …: may stop the run; see can_fail(core, v) of core.h
  bool random = false;    // takes the hidden operand `cycle` (i64) last
  bool commutative = false;
  // One entry per operand: the adjoint of that operand as an R(ML)2 expression over the
  // parameter names, `y` (the result) and `dy` (its adjoint), before un-broadcasting;
  // or "linear" rules written the same way; or "none: because …".
  // In it `k=a`, a an attribute with default "all", is left out where the user left a out. For a variadic operand x,
  // `x` is the one differentiated, `x...` all of them, and `part` its position, a literal.
  std::vector<std::string_view> vjp;
  std::string_view onnx{};   // "Add", "ReduceSum", …; empty: no counterpart
  std::string_view doc;      // one line: meaning, shapes, errors
  std::string_view example;  // an expression with its value: "add(1, 2) -- 3"
};

using OperatorId = std::uint16_t;

class OperatorTable {
 public:
  OperatorTable();  // all rows
  const OperatorInfo& operator[](OperatorId id) const { return rows_[id]; }
  std::size_t size() const { return rows_.size(); }
  std::optional<OperatorId> find(std::string_view name) const;  // by name or alias
  OperatorId require(std::string_view name) const;              // must exist
  std::vector<std::string> names() const;

 private:
  std::vector<OperatorInfo> rows_;
  std::vector<std::pair<std::string_view, OperatorId>> index_;  // sorted
};

// The table; immutable after its first use.
const OperatorTable& operators();

// What attributes mean once shapes are known, for rules, kernels and code generation alike.
// The arguments have passed the operator's shape rule.

// axis in [0, rank), or nothing; negative ones count from the end.
std::optional<std::size_t> normalized_axis(std::int64_t axis, std::size_t rank);
// transpose: axis k of the result is axis result[k] of the operand.
std::vector<std::size_t> transposed_axes(const Application&);
// Reductions: which axes of the operand are reduced; nothing if the attribute is wrong.
std::optional<std::vector<bool>> reduced_axes(const Attribute& axis, std::size_t rank);
// The integers that a kernel is told of an attribute (runtime/kernels/kernel.h).
std::vector<std::int64_t> kernel_integers(const Attribute&);
// x[a:b:c], slice and place_slice: along an axis of `whole` the elements start, start + step, …
struct SliceRange {
  std::int64_t start = 0, count = 0, step = 1;
};
// By NumPy's rule: bounds below 0 count from the end, and one that is left out is the end on its side. Unlike there a
// bound must lie within the axis; what is wrong begins with the range as it is written.
std::variant<SliceRange, std::string> slice_range(const Shape& whole, std::size_t axis,
                                                  std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                                                  std::int64_t step);
// `bounds` are the attributes starts, stops, steps. INT64_MAX is left out.
std::variant<std::vector<SliceRange>, std::string> slice_ranges(const Shape& whole, std::span<const Attribute> bounds);

// The reference page of all operators, as Markdown, from the table.
std::string operator_reference();

// One function per family, each returning its rows (semantics/operators/<family>.cc).
std::vector<OperatorInfo> elementwise_operators();
std::vector<OperatorInfo> function_operators();  // further elementwise ones: logarithms, angles, bits, clip
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
