// Spells each operation of loops in C99: by an operator if it has the same meaning for the type, otherwise by a
// function of math.h or a helper function.
#include "lowering/c/operations.h"

#include <stdexcept>

#include "lowering/c/literals.h"

namespace rml::c99 {

namespace {

// True for the types with which C computes as the language does: floats, and unsigned integers that C does not promote.
bool plain(DType d) { return is_float(d) || d == DType::u32 || d == DType::u64; }

Expression arithmetic(Helpers& helpers, const char* name, const char* sign, Binding binding, DType dtype,
                      const std::vector<Expression>& x) {
  if (plain(dtype)) return binary(x[0], sign, x[1], binding);
  return call(helpers.of(name, dtype), x);
}

// Comparisons with a known result are constants, because compilers warn of them: no unsigned number is below 0, and a
// number equals itself, unless it is a float.
Expression comparison(const char* sign, Binding binding, DType dtype, const std::vector<Expression>& x) {
  if (x[0].text == x[1].text && !is_float(dtype))
    return name_of(std::string(sign).find('=') != std::string::npos && sign[0] != '!' ? "true" : "false");
  const bool without_sign = is_integer(dtype) && !is_signed(dtype);
  const bool zero = x[1].text == "0" || x[1].text == "0u" || x[1].text == "UINT64_C(0)";
  if (without_sign && zero && std::string(sign) == "<") return name_of("false");
  if (without_sign && zero && std::string(sign) == ">=") return name_of("true");
  return binary(x[0], sign, x[1], binding);
}

Expression negated(Helpers& helpers, DType dtype, const Expression& x) {
  if (is_float(dtype)) return with_sign("-", x);
  return plain(dtype) ? binary(name_of("0u"), "-", x, Binding::sum) : call(helpers.of("negate", dtype), {x});
}

Expression of_one(Helpers& helpers, ScalarOp op, DType dtype, const std::vector<Expression>& x) {
  switch (op) {
    case ScalarOp::negate:
      return negated(helpers, dtype, x[0]);
    case ScalarOp::abs:
      return is_float(dtype) ? library_call("fabs", dtype, x) : call(helpers.of("abs", dtype), x);
    case ScalarOp::sign:
      return call(helpers.of("sign", dtype), x);
    case ScalarOp::floor:
      return library_call("floor", dtype, x);
    case ScalarOp::ceil:
      return library_call("ceil", dtype, x);
    case ScalarOp::round:
      return library_call("nearbyint", dtype, x);
    case ScalarOp::trunc:
      return library_call("trunc", dtype, x);
    case ScalarOp::sqrt:
      return library_call("sqrt", dtype, x);
    case ScalarOp::logical_not:
      return with_sign("!", x[0]);
    case ScalarOp::bit_not:
      if (dtype == DType::boolean) return with_sign("!", x[0]);
      return with_sign("(" + type_name(dtype) + ")", with_sign("~", x[0]));
    default:
      throw std::logic_error("C: no operation of one operand");
  }
}

Expression of_two(Helpers& helpers, ScalarOp op, DType dtype, const std::vector<Expression>& x) {
  switch (op) {
    case ScalarOp::add:
      return arithmetic(helpers, "add", "+", Binding::sum, dtype, x);
    case ScalarOp::sub:
      return arithmetic(helpers, "sub", "-", Binding::sum, dtype, x);
    case ScalarOp::mul:
      return arithmetic(helpers, "mul", "*", Binding::product, dtype, x);
    case ScalarOp::div:
      return arithmetic(helpers, "div", "/", Binding::product, dtype, x);
    case ScalarOp::mod:
      if (is_float(dtype)) return library_call("fmod", dtype, x);
      return arithmetic(helpers, "mod", "%", Binding::product, dtype, x);
    case ScalarOp::pow:
      return is_float(dtype) ? library_call("pow", dtype, x) : call(helpers.of("pow", dtype), x);
    case ScalarOp::copysign:
      return library_call("copysign", dtype, x);
    case ScalarOp::eq:
      return comparison("==", Binding::equality, dtype, x);
    case ScalarOp::ne:
      return comparison("!=", Binding::equality, dtype, x);
    case ScalarOp::lt:
      return comparison("<", Binding::relation, dtype, x);
    case ScalarOp::le:
      return comparison("<=", Binding::relation, dtype, x);
    case ScalarOp::gt:
      return comparison(">", Binding::relation, dtype, x);
    case ScalarOp::ge:
      return comparison(">=", Binding::relation, dtype, x);
    case ScalarOp::logical_and:
      return binary(x[0], "&&", x[1], Binding::conjunction);
    case ScalarOp::logical_or:
      if (x[1].text == "false") return x[0];
      if (x[0].text == "false") return x[1];
      return binary(x[0], "||", x[1], Binding::disjunction);
    case ScalarOp::bit_and:
      return binary(x[0], "&", x[1], Binding::bits);
    case ScalarOp::bit_or:
      return binary(x[0], "|", x[1], Binding::bits);
    case ScalarOp::bit_xor:
      return binary(x[0], "^", x[1], Binding::bits);
    case ScalarOp::left_shift:
      return call(helpers.of("left_shift", dtype), x);
    case ScalarOp::right_shift:
      return call(helpers.of("right_shift", dtype), x);
    default:
      throw std::logic_error("C: no operation of two operands");
  }
}

}  // namespace

Expression library_call(const std::string& function, DType dtype, const std::vector<Expression>& x) {
  return call(function + (dtype == DType::f32 ? "f" : ""), x);
}

Expression operation(Helpers& helpers, const loops::Operation& o, const std::vector<Expression>& x) {
  if (o.op == ScalarOp::select) return choice(x[0], x[1], x[2]);
  return x.size() == 1 ? of_one(helpers, o.op, o.dtype, x) : of_two(helpers, o.op, o.dtype, x);
}

Expression conversion(Helpers& helpers, DType to, DType from, const Expression& x) {
  if (to == from) return x;
  const bool from_half = from == DType::f16 || from == DType::bf16, to_half = to == DType::f16 || to == DType::bf16;
  if (from_half) return conversion(helpers, to, DType::f32, call(helpers.conversion(DType::f32, from), {x}));
  if (to_half && from == DType::boolean)
    return conversion(helpers, to, DType::f32, conversion(helpers, DType::f32, from, x));
  if (to_half) return call(helpers.conversion(to, from), {x});
  if (to == DType::boolean) return binary(x, "!=", name_of("0"), Binding::equality);
  if (is_float(from) && !is_float(to)) return call(helpers.conversion(to, from), {x});
  return with_sign("(" + type_name(to) + ")", x);
}

}  // namespace rml::c99
