// The meaning of tokens: operators, and the values of literals.
//
// This file does not use ANTLR. parse.cc finds the tokens, and these functions interpret them.
#pragma once

#include <string>
#include <string_view>

#include "frontend/ast.h"
#include "frontend/diagnostic.h"
#include "frontend/token.h"

namespace rml {

// `kind` must be the kind of a binary operator.
BinaryOp binary_op(TokenKind kind);

// Returns IntLiteral or FloatLiteral. If the number is out of range, reports E0103 and returns
// Error.
ast::Expr read_integer(std::string_view text, Span span, Diagnostics& diagnostics);
ast::Expr read_float(std::string_view text, Span span, Diagnostics& diagnostics);

// Returns the text that a string literal denotes; `text` includes the quotes, and the last quote
// is missing if `closed` is false. Reports unknown escapes.
std::string read_string(std::string_view text, bool closed, Span span, Diagnostics& diagnostics);

}  // namespace rml
