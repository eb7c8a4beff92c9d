// Syntax of other languages that R(ML)² does not have, with the advice for the user.
//
// The scanner looks up operators and comments. The messages of the parser look up words.
#pragma once

#include <string>
#include <string_view>

#include "frontend/token.h"

namespace rml {

struct ForeignOperator {
  std::string_view written;
  TokenKind read_as;      // the token to read instead; FOREIGN: none, and the rest of the equation is skipped
  std::string_view note;  // advice if there is no such token
};

// Returns null if the text is not a known operator of another language.
const ForeignOperator* foreign_operator(std::string_view text);

// A word between two operands, for example `mod`, and its spelling in R(ML)². Null if the word is
// unknown.
struct ForeignWord {
  std::string_view written, meant;
  bool certain;
};
const ForeignWord* foreign_infix(std::string_view word);

// True if the word declares a node or function in another language: `def`, `function`, `Node`.
bool declares_node_elsewhere(std::string_view word);

// Message and advice for a statement that begins with the word, for example `for`. Null if the
// word is unknown.
struct ForeignStatement {
  std::string_view written, message, note;
};
const ForeignStatement* foreign_statement(std::string_view word);

}  // namespace rml
