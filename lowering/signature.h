// How the functions of a node are declared in C: the headers of `--emit lib` and of `--emit c`, and the functions
// themselves, have it from here, so that they agree.
//
//   node f(x: f32, c: bool, y: f32[3] when c) -> (o: f32[3] when c)
//   NODE_step(state, float x, uint8_t c, uint8_t y_present, const float* y, uint8_t* o_present, float* o)
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "semantics/core/core.h"

namespace rml::c99 {

// Of C and C++, and the names that the functions have for themselves.
inline constexpr std::array words = {
    "auto",    "break",    "case",      "char",     "const",     "continue", "default", "do",     "double",
    "else",    "enum",     "extern",    "float",    "for",       "goto",     "if",      "inline", "int",
    "long",    "register", "restrict",  "return",   "short",     "signed",   "sizeof",  "static", "struct",
    "switch",  "typedef",  "union",     "unsigned", "void",      "volatile", "while",   "state",  "memory",
    "bytes",   "class",    "new",       "delete",   "template",  "this",     "bool",    "true",   "false",
    "private", "public",   "protected", "operator", "namespace", "try",      "catch",   "throw"};

bool is_letter(char);  // of an identifier, but `_`

// Of a port: bool is a byte, f16 and bf16 are their bits, uint16_t.
std::string port_type(DType);
// A port's name as a C identifier that is no word.
std::string port_identifier(std::string_view name);

struct InterfaceParameter {
  enum Role : std::uint8_t { input_present, input, output_present, output } role = input;
  std::uint32_t port = 0;
  std::string name, type;  // of a step: `float`, `const float*`
  std::string element;     // type of an element: of rows, `const float*`
  bool by_value = false;
  std::int64_t elements = 1;  // of one row

  bool of_input() const { return role <= input; }
};

// In the order of the ports, each behind the flag that says whether it is there, if it need not be.
std::vector<InterfaceParameter> input_parameters(const Core&);
std::vector<InterfaceParameter> output_parameters(const Core&);

// ", float x, float* y"; of rows every parameter is an array.
std::string parameter_list(const std::vector<InterfaceParameter>&, bool rows);
// What a step is given of row `i`.
std::string row_of(const InterfaceParameter&, const std::string& i);

// What is told of the ports in the header's first comment.
std::string ports_text(const Core&);

}  // namespace rml::c99
