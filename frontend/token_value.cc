// The values of operators, numbers and strings.
//
// An integer is an unsigned 64-bit number, since a sign is an operator. A float is rounded to the
// nearest double. `_` between digits is ignored. Later passes check whether a value fits the type
// at its use.
#include "frontend/token_value.h"

#include <charconv>
#include <system_error>

namespace rml {

namespace {

std::string digits(std::string_view text) {
  std::string result(text);
  std::erase(result, '_');
  return result;
}

}  // namespace

BinaryOp binary_op(TokenKind kind) {
  switch (kind) {
    case TokenKind::OR:
      return BinaryOp::logical_or;
    case TokenKind::AND:
      return BinaryOp::logical_and;
    case TokenKind::EQ:
      return BinaryOp::eq;
    case TokenKind::NE:
      return BinaryOp::ne;
    case TokenKind::LT:
      return BinaryOp::lt;
    case TokenKind::LE:
      return BinaryOp::le;
    case TokenKind::GT:
      return BinaryOp::gt;
    case TokenKind::GE:
      return BinaryOp::ge;
    case TokenKind::PLUS:
      return BinaryOp::add;
    case TokenKind::MINUS:
      return BinaryOp::sub;
    case TokenKind::STAR:
      return BinaryOp::mul;
    case TokenKind::SLASH:
      return BinaryOp::div;
    default:
      return BinaryOp::mod;
  }
}

ast::Expr read_integer(std::string_view text, Span span, Diagnostics& diagnostics) {
  std::string number = digits(text);
  const bool hexadecimal = number.size() > 1 && (number[1] == 'x' || number[1] == 'X');
  if (hexadecimal) number.erase(0, 2);
  std::uint64_t value = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value, hexadecimal ? 16 : 10);
  if (read.ec == std::errc{}) return ast::IntLiteral{value};
  diagnostics.report(Code::E0103, span, "this integer does not fit 64 bits", "larger than 18446744073709551615");
  return ast::Error{};
}

ast::Expr read_float(std::string_view text, Span span, Diagnostics& diagnostics) {
  const std::string number = digits(text);
  double value = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  if (read.ec == std::errc{}) return ast::FloatLiteral{value};
  diagnostics.report(Code::E0103, span, "this number is outside the range of f64",
                     "its magnitude must be from 4.9e-324 to 1.8e308");
  return ast::Error{};
}

std::string read_string(std::string_view text, bool closed, Span span, Diagnostics& diagnostics) {
  const std::size_t end = text.size() - (closed ? 1 : 0);
  std::string result;
  for (std::size_t i = 1; i < end; ++i) {
    if (text[i] != '\\' || i + 1 == end) {
      result += text[i];
      continue;
    }
    const char c = text[++i];
    if (c != 'n' && c != 't' && c != '"' && c != '\\') {
      const auto at = static_cast<std::uint32_t>(span.begin + i - 1);
      diagnostics.report(Code::E0101, {span.file, at, at + 2}, "unknown escape in a string")
          .note("the escapes are `\\n`, `\\t`, `\\\"` and `\\\\`");
    }
    result += c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }
  return result;
}

}  // namespace rml
