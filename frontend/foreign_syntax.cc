// Tables of foreign operators, infix words and statements; lookups are linear, since they happen
// only after an error.
#include "frontend/foreign_syntax.h"

#include <algorithm>
#include <iterator>

namespace rml {

namespace {

using enum TokenKind;

constexpr std::string_view keeps =
    "an equation says what a stream is at every cycle; a sum so far is `s = (0 fby s) + x;`";

constexpr ForeignOperator operators[] = {
    {":=", ASSIGN, {}},
    {"<>", NE, {}},
    {"=/=", NE, {}},
    {"!==", NE, {}},
    {"===", EQ, {}},
    {"&&", AND, {}},
    {"||", OR, {}},
    {"!", NOT, {}},
    {"&", FOREIGN, "of Booleans it is `a and b`, of integers `bitwise_and(a, b)`"},
    {"|", FOREIGN, "of Booleans it is `a or b`, of integers `bitwise_or(a, b)`"},
    {"~", FOREIGN, "of Booleans it is `not a`, of integers `bitwise_not(a)`"},
    {"=>", FOREIGN, "`a => b` is written `not a or b`"},
    {"<<", FOREIGN, "the bits of an integer are moved by `left_shift(a, n)`"},
    {">>", FOREIGN, "the bits of an integer are moved by `right_shift(a, n)`"},
    {"**", FOREIGN, "a to the power b is `pow(a, b)`"},
    {"//", FOREIGN, "the quotient of integers is `a / b`, rounded towards zero; of floats, `floor(a / b)`"},
    {"?", FOREIGN, "a choice is written `if c then a else b`"},
    {"+=", FOREIGN, keeps},
    {"-=", FOREIGN, keeps},
    {"*=", FOREIGN, keeps},
    {"/=", FOREIGN, keeps},
    {"%=", FOREIGN, keeps},
    {"++", FOREIGN, keeps},
};

constexpr ForeignWord infix_words[] = {
    {"mod", "%", true},        {"div", "/", false},        {"xor", "!=", false},
    {"elif", "else if", true}, {"elsif", "else if", true}, {"elseif", "else if", true},
};

constexpr std::string_view loops = "R(ML)² has no loops";
constexpr std::string_view instead_of_loops =
    "an equation holds at every cycle; along an axis a node is applied by `map`, `fold` and `scan`";

constexpr ForeignStatement statements[] = {
    {"var", "R(ML)² has no `var`: variables are not declared",
     "a type may be written where the variable is defined: `x: f32 = …;`"},
    {"for", loops, instead_of_loops},
    {"foreach", loops, instead_of_loops},
    {"while", loops, instead_of_loops},
    {"return", "R(ML)² has no `return`", "an output is defined by an equation, as any variable: `y = …;`"},
};

template <class Row, std::size_t n>
const Row* find(const Row (&table)[n], std::string_view text) {
  const Row* found = std::ranges::find(table, text, &Row::written);
  return found == std::end(table) ? nullptr : found;
}

}  // namespace

const ForeignOperator* foreign_operator(std::string_view text) { return find(operators, text); }

const ForeignWord* foreign_infix(std::string_view word) { return find(infix_words, word); }

const ForeignStatement* foreign_statement(std::string_view word) { return find(statements, word); }

bool declares_node_elsewhere(std::string_view word) {
  constexpr std::string_view words[] = {"def", "fun", "func", "fn", "function", "Node", "NODE", "proc", "process"};
  return std::ranges::find(words, word) != std::end(words);
}

}  // namespace rml
