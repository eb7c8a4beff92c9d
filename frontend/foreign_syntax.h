// What other languages write and R(ML)² does not, and in which words it is told.
//
// The scanner asks for operators and comments, the parser's messages for words.
#pragma once

#include <string>
#include <string_view>

#include "frontend/token.h"

namespace rml {

struct ForeignOperator {
  std::string_view written;
  TokenKind read_as;      // the token that is meant; FOREIGN: none is, and the rest of the equation is given up
  std::string_view note;  // what is written where no token is meant
};

// Null: the text is none of another language.
const ForeignOperator* foreign_operator(std::string_view text);

// A word between operands, `mod` say, and what stands there instead; null: none of another language.
struct ForeignWord {
  std::string_view written, meant;
  bool certain;
};
const ForeignWord* foreign_infix(std::string_view word);

// Whether the word declares a node elsewhere: `def`, `function`, `Node`.
bool declares_node_elsewhere(std::string_view word);

// What is said of a statement that begins with the word, `for` say, and what is done instead; null: nothing is known.
struct ForeignStatement {
  std::string_view written, message, note;
};
const ForeignStatement* foreign_statement(std::string_view word);

}  // namespace rml
