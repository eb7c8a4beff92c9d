// Tokens of a source file, including comments, as the scanner passes them to the parser and the
// formatter.
//
// The kinds are those of grammar/Rml.g4 in the same order (scan.cc asserts it), with their
// spelling in diagnostics.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "frontend/diagnostic.h"
#include "frontend/source.h"

namespace rml {

// clang-format off
#define RML_TOKENS(X)                                                                              \
  X(NODE, "node") X(CONST, "const") X(IMPORT, "import") X(AS, "as") X(IF, "if") X(THEN, "then")    \
  X(ELSE, "else") X(FBY, "fby") X(OR, "or") X(AND, "and") X(NOT, "not") X(WHEN, "when")            \
  X(MERGE, "merge") X(POST, "post") X(DIFF, "diff") X(ASSERT, "assert") X(TRUE, "true")            \
  X(FALSE, "false") X(SEMI, ";") X(COMMA, ",") X(COLON, ":") X(DOT, ".") X(ARROW, "->")            \
  X(ASSIGN, "=") X(EQ, "==") X(NE, "!=") X(LE, "<=") X(GE, ">=") X(LT, "<") X(GT, ">")             \
  X(PLUS, "+") X(MINUS, "-") X(STAR, "*") X(SLASH, "/") X(PERCENT, "%") X(LPAREN, "(")             \
  X(RPAREN, ")") X(LBRACKET, "[") X(RBRACKET, "]") X(UNDERSCORE, "_") X(ID, "a name")              \
  X(INT, "a number") X(FLOAT, "a number") X(STRING, "a string") X(COMMENT, "a comment")            \
  X(LINE_COMMENT, "a comment") X(BLANK, "a blank") X(OPEN_COMMENT, "a comment")                    \
  X(OPEN_STRING, "a string") X(FOREIGN, "a foreign operator") X(BAD_FLOAT, "a number")             \
  X(BAD_NUMBER, "a number") X(INVALID, "an invalid character")                                     \
  X(TIGHT_LPAREN, "(") X(TIGHT_LBRACKET, "[") X(ITERATE, "an iterator") X(GROUP, ";") \
  X(DEALT, "dealt") X(BY, "by")
// clang-format on

enum class TokenKind : std::uint8_t {
  END,
#define RML_TOKEN(name, spelling) name,
  RML_TOKENS(RML_TOKEN)
#undef RML_TOKEN
};

std::string_view spelling(TokenKind kind);
inline bool is_comment(TokenKind kind) { return kind == TokenKind::COMMENT || kind == TokenKind::LINE_COMMENT; }
inline bool is_keyword(TokenKind kind) { return kind >= TokenKind::NODE && kind <= TokenKind::FALSE; }
inline bool opens(TokenKind kind) {
  return kind == TokenKind::LPAREN || kind == TokenKind::TIGHT_LPAREN || kind == TokenKind::LBRACKET ||
         kind == TokenKind::TIGHT_LBRACKET;
}
inline bool closes(TokenKind kind) { return kind == TokenKind::RPAREN || kind == TokenKind::RBRACKET; }
// True if a new item begins with this kind. No expression contains these kinds.
inline bool begins_item(TokenKind kind) { return kind >= TokenKind::NODE && kind <= TokenKind::IMPORT; }

// The role that the parser gave a token, for the formatter, where the kind is ambiguous.
enum class TokenRole : std::uint8_t {
  plain,
  attached,  // an opening bracket directly after its operand: of a call, an index or a shape
  prefix,    // a sign before an operand
  inside,    // a colon of a range, or the `=` of a named argument: no spaces
};

struct Token {
  TokenKind kind = TokenKind::END;
  TokenRole role = TokenRole::plain;
  bool first_on_line = false;
  bool reported = false;  // true if a diagnostic about it has been reported
  std::uint32_t begin = 0, end = 0;
};

// Returns all tokens of a registered file in order, followed by one END. Reports bytes and tokens
// that no program can contain. If the meaning of a wrong token is certain (`&&`, `.5`), the
// intended token is returned.
std::vector<Token> scan(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace rml
