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

// Of C and C++, macros and types of the headers that are included beside, and what the functions call their own.
inline constexpr std::array words = {"auto",        "break",
                                     "case",        "char",
                                     "const",       "continue",
                                     "default",     "do",
                                     "double",      "else",
                                     "enum",        "extern",
                                     "float",       "for",
                                     "goto",        "if",
                                     "inline",      "int",
                                     "long",        "register",
                                     "restrict",    "return",
                                     "short",       "signed",
                                     "sizeof",      "static",
                                     "struct",      "switch",
                                     "typedef",     "union",
                                     "unsigned",    "void",
                                     "volatile",    "while",
                                     "_Bool",       "_Complex",
                                     "_Imaginary",  "alignas",
                                     "alignof",     "and",
                                     "and_eq",      "asm",
                                     "bitand",      "bitor",
                                     "bool",        "catch",
                                     "char16_t",    "char32_t",
                                     "char8_t",     "class",
                                     "co_await",    "co_return",
                                     "co_yield",    "compl",
                                     "concept",     "const_cast",
                                     "consteval",   "constexpr",
                                     "constinit",   "decltype",
                                     "delete",      "dynamic_cast",
                                     "explicit",    "export",
                                     "false",       "friend",
                                     "mutable",     "namespace",
                                     "new",         "noexcept",
                                     "not",         "not_eq",
                                     "nullptr",     "operator",
                                     "or",          "or_eq",
                                     "private",     "protected",
                                     "public",      "reinterpret_cast",
                                     "requires",    "static_assert",
                                     "static_cast", "template",
                                     "this",        "thread_local",
                                     "throw",       "true",
                                     "try",         "typeid",
                                     "typename",    "typeof",
                                     "using",       "virtual",
                                     "wchar_t",     "xor",
                                     "xor_eq",      "DBL_EPSILON",
                                     "DBL_MAX",     "DBL_MIN",
                                     "EOF",         "FLT_EPSILON",
                                     "FLT_MAX",     "FLT_MIN",
                                     "HUGE_VAL",    "I",
                                     "INFINITY",    "INT16_MAX",
                                     "INT16_MIN",   "INT32_MAX",
                                     "INT32_MIN",   "INT64_MAX",
                                     "INT64_MIN",   "INT8_MAX",
                                     "INT8_MIN",    "INT_MAX",
                                     "INT_MIN",     "LONG_MAX",
                                     "LONG_MIN",    "M_E",
                                     "M_PI",        "NAN",
                                     "NULL",        "SIZE_MAX",
                                     "UINT16_MAX",  "UINT32_MAX",
                                     "UINT64_MAX",  "UINT8_MAX",
                                     "UINT_MAX",    "assert",
                                     "complex",     "errno",
                                     "i386",        "imaginary",
                                     "linux",       "stderr",
                                     "stdin",       "stdout",
                                     "unix",        "int16_t",
                                     "int32_t",     "int64_t",
                                     "int8_t",      "size_t",
                                     "uint16_t",    "uint32_t",
                                     "uint64_t",    "uint8_t",
                                     "state",       "memory",
                                     "bytes",       "groups",
                                     "states_",     "k_",
                                     "fault_",      "now_"};

bool is_letter(char);   // of an identifier, but `_`
bool is_of_word(char);  // … or that

// Of a port: bool is a byte, f16 and bf16 are their bits, uint16_t.
std::string port_type(DType);

// How a port is called, or is written in a function.
struct Port {
  std::string value;    // a parameter, or an element of a ring
  std::string present;  // of one that need not be there: the parameter
};
// By the names of the program where these are identifiers: no word, no function of the node, and none twice.
std::vector<Port> input_ports(const Core&);
std::vector<Port> output_ports(const Core&);
// A text in which NAME_ stands for the node's name.
std::string named_after(const std::string& node, const std::string& text);

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
