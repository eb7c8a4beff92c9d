// What tokens stand for: operators, and the values of literals from their text.
//
// No ANTLR here: parse.cc finds the tokens, this says what they mean.
#pragma once

#include <string>
#include <string_view>

#include "frontend/ast.h"
#include "frontend/diagnostic.h"
#include "frontend/token.h"

namespace rml {

// kind is that of a binary operator.
BinaryOp binary_op(TokenKind kind);

// IntLiteral or FloatLiteral; Error, and E0103, if the number is out of range.
ast::Expr read_integer(std::string_view text, Span span, Diagnostics& diagnostics);
ast::Expr read_float(std::string_view text, Span span, Diagnostics& diagnostics);

// What the string with its quotes stands for; `closed` tells whether the last one is there.
// Unknown escapes are reported.
std::string read_string(std::string_view text, bool closed, Span span, Diagnostics& diagnostics);

}  // namespace rml
