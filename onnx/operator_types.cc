// Contains the table of element types. Lookups use binary search by operator name.
#include "onnx/operator_types.h"

#include <algorithm>
#include <iterator>

namespace rml::onnx {

namespace {

constexpr DTypeSet any_type = dtypes::any, numbers = dtypes::numeric;
constexpr DTypeSet reals = dtypes::floating, reals_but_bf16 = reals & ~bit(DType::bf16);
constexpr DTypeSet wide_numbers = reals | bit(DType::i32) | bit(DType::i64) | bit(DType::u32) | bit(DType::u64);
constexpr DTypeSet unsigned_integers = bit(DType::u8) | bit(DType::u16) | bit(DType::u32) | bit(DType::u64);
constexpr DTypeSet byte_sized = bit(DType::i8) | bit(DType::u8);
constexpr DTypeSet any_type_but_bf16 = any_type & ~bit(DType::bf16), numbers_but_bf16 = numbers & ~bit(DType::bf16);

// Sorted by name.
constexpr OperatorTypes operator_rows[] = {
    {"Abs", "T", "T", numbers},
    {"Acos", "T", "T", reals_but_bf16},
    {"Acosh", "T", "T", reals_but_bf16},
    {"Add", "TT", "T", numbers},
    {"And", "bb", "b", 0},
    {"ArgMax", "T", "l", numbers},
    {"ArgMin", "T", "l", numbers},
    {"Asin", "T", "T", reals_but_bf16},
    {"Asinh", "T", "T", reals_but_bf16},
    {"Atan", "T", "T", reals_but_bf16},
    {"Atanh", "T", "T", reals_but_bf16},
    {"AveragePool", "T", "T", reals_but_bf16},
    {"BitShift", "TT", "T", unsigned_integers},
    {"Cast", "T", "*", any_type},
    {"Ceil", "T", "T", reals},
    {"Concat", "T", "T", any_type},
    {"Conv", "TTT", "T", reals_but_bf16},
    {"ConvTranspose", "TTT", "T", reals_but_bf16},
    {"Cos", "T", "T", reals_but_bf16},
    {"Cosh", "T", "T", reals_but_bf16},
    {"CumSum", "Ti", "T", wide_numbers},
    {"Det", "T", "T", reals_but_bf16},
    {"Div", "TT", "T", numbers},
    {"Einsum", "T", "T", numbers_but_bf16},
    {"Equal", "TT", "b", any_type},
    {"Erf", "T", "T", reals},
    {"Exp", "T", "T", reals},
    {"Expand", "Tl", "T", any_type},
    {"Floor", "T", "T", reals},
    {"Gather", "Ti", "T", any_type},
    {"GatherElements", "Ti", "T", any_type},
    {"GatherND", "Tl", "T", any_type},
    {"Greater", "TT", "b", numbers},
    {"GreaterOrEqual", "TT", "b", numbers},
    {"GridSample", "TU", "T", any_type_but_bf16, reals_but_bf16},
    {"Identity", "T", "T", any_type},
    {"IsInf", "T", "b", dtypes::floating & ~(bit(DType::f16) | bit(DType::bf16))},
    {"IsNaN", "T", "b", reals},
    {"Less", "TT", "b", numbers},
    {"LessOrEqual", "TT", "b", numbers},
    {"Log", "T", "T", reals},
    {"LogSoftmax", "T", "T", reals},
    {"MatMul", "TT", "T", wide_numbers},
    {"Max", "T", "T", numbers},
    {"MaxPool", "T", "Tl", reals_but_bf16 | byte_sized},
    {"Min", "T", "T", numbers},
    {"Mod", "TT", "T", numbers},
    {"Mul", "TT", "T", numbers},
    {"Neg", "T", "T", (dtypes::integer & ~unsigned_integers) | reals},
    {"Not", "b", "b", 0},
    {"Or", "bb", "b", 0},
    {"Pad", "TlT", "T", any_type},
    {"Pow", "TU", "T", reals | bit(DType::i32) | bit(DType::i64), numbers},
    {"Reciprocal", "T", "T", reals},
    {"ReduceL1", "T", "T", wide_numbers},
    {"ReduceL2", "T", "T", wide_numbers},
    {"ReduceLogSumExp", "T", "T", wide_numbers},
    {"ReduceMax", "T", "T", wide_numbers | byte_sized},
    {"ReduceMean", "T", "T", wide_numbers},
    {"ReduceMin", "T", "T", wide_numbers | byte_sized},
    {"ReduceProd", "T", "T", wide_numbers},
    {"ReduceSum", "Tl", "T", wide_numbers},
    {"Relu", "T", "T", (dtypes::integer & ~unsigned_integers) | reals},
    {"Reshape", "Tl", "T", any_type},
    {"Resize", "TUfl", "T", any_type, reals_but_bf16},
    {"Round", "T", "T", reals_but_bf16},
    {"Scan", "*", "*", 0},
    {"ScatterElements", "TiT", "T", any_type},
    {"ScatterND", "TlT", "T", any_type},
    {"Sigmoid", "T", "T", reals},
    {"Sign", "T", "T", numbers},
    {"Sin", "T", "T", reals_but_bf16},
    {"Sinh", "T", "T", reals_but_bf16},
    {"Slice", "Tiiii", "T", any_type},
    {"Softmax", "T", "T", reals},
    {"Softplus", "T", "T", reals_but_bf16},
    {"Sqrt", "T", "T", reals},
    {"Sub", "TT", "T", numbers},
    {"Tan", "T", "T", reals_but_bf16},
    {"Tanh", "T", "T", reals},
    {"Tile", "Tl", "T", any_type},
    {"TopK", "Tl", "Tl", numbers_but_bf16},
    {"Transpose", "T", "T", any_type},
    {"Where", "bTT", "T", any_type},
    {"Xor", "bb", "b", 0},
};

}  // namespace

const OperatorTypes* types_of(std::string_view op) {
  const auto* row = std::ranges::lower_bound(operator_rows, op, {}, &OperatorTypes::op);
  return row != std::end(operator_rows) && row->op == op ? row : nullptr;
}

}  // namespace rml::onnx
