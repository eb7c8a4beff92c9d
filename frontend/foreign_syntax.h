// Spellings of other languages, each with the message that names the form of R(ML)².
//
// The scanner looks up operators, the parser's messages look up words.
#pragma once

#include <string>
#include <string_view>

#include "frontend/token.h"

namespace rml {

struct ForeignOperator {
  std::string_view written;
  TokenKind read_as;      // the token to read instead; FOREIGN: none, and the rest of the equation is skipped
  std::string_view note;  // advice, if the language has no such token
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

// The message about a word of another language, and the note with the form to write.
struct ForeignPhrase {
  std::string_view written, message, note;
};
// A statement that begins with the word, `for` say; null: the word is of no other language.
const ForeignPhrase* foreign_statement(std::string_view word);
// True if the word opens a block of statements: the statements after it are not reported as well.
bool opens_foreign_block(std::string_view word);
// A word before an operand, `last` say; null: the word is of no other language.
const ForeignPhrase* foreign_prefix(std::string_view word);

}  // namespace rml
