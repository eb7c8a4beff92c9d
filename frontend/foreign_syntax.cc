// The tables of other languages' spellings, and their lookup.
#include "frontend/foreign_syntax.h"

#include <algorithm>
#include <iterator>

namespace rml {

namespace {

using enum TokenKind;

constexpr std::string_view keeps =
    "an equation defines a stream at every cycle; write a running sum as `s = (0 fby s) + x;`";

constexpr ForeignOperator operators[] = {
    {":=", ASSIGN, {}},
    {"<>", NE, {}},
    {"=/=", NE, {}},
    {"!==", NE, {}},
    {"===", EQ, {}},
    {"&&", AND, {}},
    {"||", OR, {}},
    {"!", NOT, {}},
    {"&", FOREIGN, "for Booleans write `a and b`, for integers `bitwise_and(a, b)`"},
    {"|", FOREIGN, "for Booleans write `a or b`, for integers `bitwise_or(a, b)`"},
    {"~", FOREIGN, "for Booleans write `not a`, for integers `bitwise_not(a)`"},
    {"=>", FOREIGN, "for `a => b` write `not a or b`"},
    {"<<", FOREIGN, "to shift the bits of an integer, write `left_shift(a, n)`"},
    {">>", FOREIGN, "to shift the bits of an integer, write `right_shift(a, n)`"},
    {"**", FOREIGN, "for a power, write `pow(a, b)`"},
    {"//", FOREIGN, "for integers write `a / b`, which rounds towards zero; for floats, `floor(a / b)`"},
    {"?", FOREIGN, "for a choice, write `if c then a else b`"},
    {"+=", FOREIGN, keeps},
    {"-=", FOREIGN, keeps},
    {"*=", FOREIGN, keeps},
    {"/=", FOREIGN, keeps},
    {"%=", FOREIGN, keeps},
    {"++", FOREIGN, keeps},
};

constexpr ForeignWord infix_words[] = {
    {"mod", "%", true},        {"div", "/", false},        {"xor", "!=", false},        {"is", "==", false},
    {"elif", "else if", true}, {"elsif", "else if", true}, {"elseif", "else if", true}, {"whenot", "when not", true},
};

constexpr std::string_view loops = "R(ML)² has no loops";
constexpr std::string_view instead_of_loops =
    "an equation holds at every cycle; `map`, `fold` and `scan` apply a node along an axis";
constexpr std::string_view automata = "R(ML)² has no automata";
constexpr std::string_view instead_of_automata =
    "keep a mode as a number or a Boolean with `fby`: `rmlc explain modes` shows how";
constexpr std::string_view instead_of_reset =
    "`fby_end(end, init, x)` starts again after each cycle where `end` is true: `rmlc explain modes` shows how";
constexpr std::string_view instead_of_cases =
    "write `if a then x else if b then y else z`: `rmlc explain modes` shows how";
constexpr std::string_view structures = "R(ML)² has no records";
constexpr std::string_view instead_of_structures =
    "a node can have several inputs and outputs; streams of one type can form a vector `[a, b]`";

constexpr ForeignPhrase statements[] = {
    {"var", "R(ML)² has no `var`: variables are not declared", "a type can be written in the equation: `x: f32 = …;`"},
    {"for", loops, instead_of_loops},
    {"foreach", loops, instead_of_loops},
    {"while", loops, instead_of_loops},
    {"return", "R(ML)² has no `return`", "define an output by an equation, like any variable: `y = …;`"},
    {"automaton", automata, instead_of_automata},
    {"state", automata, instead_of_automata},
    {"unless", automata, instead_of_automata},
    {"until", automata, instead_of_automata},
    {"reset", "R(ML)² has no `reset`", instead_of_reset},
    {"switch", "R(ML)² has no `switch`", instead_of_cases},
    {"case", "R(ML)² has no `case`", instead_of_cases},
    {"match", "R(ML)² has no `match`", instead_of_cases},
    {"type", "R(ML)² has no declarations of types",
     "write a mode as an integer constant, `const heating = 1;`, or a Boolean: `rmlc explain modes` shows how"},
    {"enum", "R(ML)² has no enumerations",
     "write a mode as an integer constant, `const heating = 1;`, or a Boolean: `rmlc explain modes` shows how"},
    {"struct", structures, instead_of_structures},
    {"record", structures, instead_of_structures},
    {"class", structures, instead_of_structures},
    {"print", "R(ML)² has no `print`",
     "`rmlc trace FILE` shows variables as a chronogram; `rmlc run FILE --watch NAME` prints one during the run"},
    {"last", "R(ML)² has no `last`", "for the value of the previous cycle, write `0.0 fby x`, with a first value"},
};

constexpr ForeignPhrase prefixes[] = {
    {"pre", "R(ML)² has no `pre`",
     "Lustre's `a -> pre b` is written `a fby b`; `pre b` alone needs a first value: `0.0 fby b`"},
    {"last", "R(ML)² has no `last`", "for the value of the previous cycle, write `0.0 fby x`, with a first value"},
    {"current", "R(ML)² has no `current`",
     "to hold the last sample, write `held = merge c (x when c) ((0.0 fby held) when not c);`"},
    {"match", "R(ML)² has no `match`", instead_of_cases},
    {"switch", "R(ML)² has no `switch`", instead_of_cases},
    {"case", "R(ML)² has no `case`", instead_of_cases},
    {"let", "R(ML)² has no `let`",
     "give the value a name in an equation of its own; the order of equations does not matter"},
    {"lambda", "R(ML)² has no `lambda`", "write a node: `node f(x) -> (y)`"},
    {"new", structures, instead_of_structures},
};

template <class Row, std::size_t n>
const Row* find(const Row (&table)[n], std::string_view text) {
  const Row* found = std::ranges::find(table, text, &Row::written);
  return found == std::end(table) ? nullptr : found;
}

}  // namespace

const ForeignOperator* foreign_operator(std::string_view text) { return find(operators, text); }

const ForeignWord* foreign_infix(std::string_view word) { return find(infix_words, word); }

const ForeignPhrase* foreign_statement(std::string_view word) { return find(statements, word); }

bool opens_foreign_block(std::string_view word) {
  constexpr std::string_view words[] = {"automaton", "state", "unless", "until", "switch", "case", "match"};
  return std::ranges::find(words, word) != std::end(words);
}

const ForeignPhrase* foreign_prefix(std::string_view word) { return find(prefixes, word); }

bool declares_node_elsewhere(std::string_view word) {
  constexpr std::string_view words[] = {"def", "fun", "func", "fn", "function", "Node", "NODE", "proc", "process"};
  return std::ranges::find(words, word) != std::end(words);
}

}  // namespace rml
