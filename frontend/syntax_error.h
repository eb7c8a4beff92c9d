// Syntax errors in the user's words: what was expected, what stands there instead, and,
// where the slip is a known one, what R(ML)2 writes.
//
// Works on tokens and sets of token kinds alone; the parser that finds the errors is not
// seen here.
#pragma once

#include <bitset>
#include <cstddef>
#include <vector>

#include "frontend/diagnostic.h"
#include "frontend/token.h"

namespace rml {

using TokenSet = std::bitset<64>;  // indexed by TokenKind; END is bit 0

struct SyntaxError {
  std::size_t at = 0;         // the token that fits nothing
  std::size_t statement = 0;  // the first token of its equation or item
  TokenSet expected;
};

// The token before at that is no comment, or at itself if there is none.
std::size_t previous_token(const std::vector<Token>& tokens, std::size_t at);
std::size_t next_token(const std::vector<Token>& tokens, std::size_t at);

// Whether an equation may begin here, to judge by this token and the next.
bool begins_equation(const std::vector<Token>& tokens, std::size_t at);

// The operators that may follow an operand.
TokenSet continuations();

// Silent if the error follows from one already reported.
void report_syntax_error(const SyntaxError& error, const std::vector<Token>& tokens, std::uint32_t file,
                         const SourceMap& sources, Diagnostics& diagnostics);

void report_keyword_as_name(TokenKind keyword, Span span, Diagnostics& diagnostics);

// Whether no expression nests deeper than max_nesting (an upper bound, counted from the
// tokens alone, of the recursion of parser and tree); E0104 if not.
bool check_nesting(const std::vector<Token>& tokens, std::uint32_t file, Diagnostics& diagnostics);

}  // namespace rml
