// The table of operations on elements. All other operators are spelled by these (semantics/operators/spelling.h).
#include "lowering/loops/operations.h"

#include <algorithm>
#include <utility>

namespace rml::loops {

namespace {

using dtypes::boolean, dtypes::element, dtypes::integer, dtypes::number, dtypes::real;

constexpr std::pair<ScalarOp, OperationFacts> table[] = {
    {ScalarOp::add, {"add", 2, number}},
    {ScalarOp::sub, {"sub", 2, number}},
    {ScalarOp::mul, {"mul", 2, number}},
    {ScalarOp::div, {"div", 2, number}},
    {ScalarOp::mod, {"mod", 2, number}},
    {ScalarOp::pow, {"pow", 2, number}},
    {ScalarOp::negate, {"negate", 1, number}},
    {ScalarOp::abs, {"abs", 1, number}},
    {ScalarOp::sign, {"sign", 1, number}},
    {ScalarOp::floor, {"floor", 1, real}},
    {ScalarOp::ceil, {"ceil", 1, real}},
    {ScalarOp::round, {"round", 1, real}},
    {ScalarOp::trunc, {"trunc", 1, real}},
    {ScalarOp::sqrt, {"sqrt", 1, real}},
    {ScalarOp::copysign, {"copysign", 2, real}},
    {ScalarOp::eq, {"eq", 2, number | boolean}},
    {ScalarOp::ne, {"ne", 2, number | boolean}},
    {ScalarOp::lt, {"lt", 2, number}},
    {ScalarOp::le, {"le", 2, number}},
    {ScalarOp::gt, {"gt", 2, number}},
    {ScalarOp::ge, {"ge", 2, number}},
    {ScalarOp::logical_and, {"and", 2, boolean}},
    {ScalarOp::logical_or, {"or", 2, boolean}},
    {ScalarOp::logical_not, {"not", 1, boolean}},
    {ScalarOp::bit_and, {"bit_and", 2, integer | boolean}},
    {ScalarOp::bit_or, {"bit_or", 2, integer | boolean}},
    {ScalarOp::bit_xor, {"bit_xor", 2, integer | boolean}},
    {ScalarOp::bit_not, {"bit_not", 1, integer | boolean}},
    {ScalarOp::left_shift, {"left_shift", 2, integer}},
    {ScalarOp::right_shift, {"right_shift", 2, integer}},
    {ScalarOp::select, {"select", 3, element}},
};

}  // namespace

OperationFacts facts_of(ScalarOp op) {
  const auto at = std::ranges::find(table, op, &std::pair<ScalarOp, OperationFacts>::first);
  return at == std::end(table) ? OperationFacts{} : at->second;
}

std::optional<ScalarOp> operation_named(std::string_view name) {
  for (const auto& [op, facts] : table)
    if (facts.name == name) return op;
  return std::nullopt;
}

bool compares(ScalarOp op) {
  return op == ScalarOp::eq || op == ScalarOp::ne || op == ScalarOp::lt || op == ScalarOp::le || op == ScalarOp::gt ||
         op == ScalarOp::ge;
}

DType dtype_of(ScalarOp op, DType operands) { return compares(op) ? DType::boolean : operands; }

}  // namespace rml::loops
