// Reports syntax errors in the user's words: the expected and the found token and, for a known
// mistake, the spelling in R(ML)².
//
// It uses only tokens and sets of token kinds, and does not depend on the parser that finds the
// errors.
#pragma once

#include <bitset>
#include <cstddef>
#include <vector>

#include "frontend/diagnostic.h"
#include "frontend/token.h"

namespace rml {

using TokenSet = std::bitset<64>;  // a set of TokenKinds; END is bit 0

struct SyntaxError {
  std::size_t at = 0;         // position of the token that does not fit
  std::size_t statement = 0;  // position of the first token of its equation or item
  TokenSet expected;
};

// Returns the last token before `at` that is not a comment, or `at` itself if there is none.
std::size_t previous_token(const std::vector<Token>& tokens, std::size_t at);
std::size_t next_token(const std::vector<Token>& tokens, std::size_t at);

// True if an equation may begin here, judged by this token and the next.
bool begins_equation(const std::vector<Token>& tokens, std::size_t at);

// The operators that may follow an operand.
TokenSet continuations();

// Reports a syntax error, unless it follows from one that is already reported.
void report_syntax_error(const SyntaxError& error, const std::vector<Token>& tokens, std::uint32_t file,
                         const SourceMap& sources, Diagnostics& diagnostics);

// `(a, b) = f(x)`, where an equation should begin: reports it and returns true.
bool report_tuple_of_targets(std::size_t at, const std::vector<Token>& tokens, std::uint32_t file,
                             const SourceMap& sources, Diagnostics& diagnostics);

void report_keyword_as_name(TokenKind keyword, Span span, Diagnostics& diagnostics);

// Returns false and reports E0104 if an expression nests deeper than max_nesting. The depth is
// counted from the tokens and is an upper bound for the recursion of the parser and of the tree.
bool check_nesting(const std::vector<Token>& tokens, std::uint32_t file, Diagnostics& diagnostics);

}  // namespace rml
