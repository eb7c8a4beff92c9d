// How the functions of a node are declared in C. The headers of `--emit lib` and `--emit c` and the functions
// themselves share this description, so that they agree.
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

// Names that the functions of the interface use for their own parameters and variables.
inline constexpr auto own_words =
    std::to_array<std::string_view>({"state", "memory", "bytes", "groups", "states_", "k_", "fault_", "now_"});

// Suffixes of the names that a header or an object of a node declares: NODE followed by one of these.
inline constexpr auto interface_names = std::to_array<std::string_view>(
    {"_state",     "_init",      "_reset",      "_seed",       "_message",    "_step",       "_run",
     "_step_many", "_lead",      "_advance",    "_push",       "_pop",        "_group",      "_group_init",
     "_group_put", "_group_get", "_group_step", "_group_wide", "_group_lane", "_group_lanes"});
// Suffixes of macros. The preprocessor replaces a macro wherever its name is written.
inline constexpr auto interface_macros = std::to_array<std::string_view>(
    {"_H", "_ABI", "_LAYOUT", "_INIT_SYMBOL", "_LANES", "_GROUPS", "_BYTES", "_SEGMENT"});
// True if a header or the object of the node may declare the name: NODE with a suffix from above, NODE_get_PORT, or
// NODE_get_PARAMETER and NODE_set_PARAMETER.
bool is_of_interface(const Core&, std::string_view name);

bool is_letter(char);   // true for a letter of an identifier; `_` is not one
bool is_of_word(char);  // true for a letter or `_`
// The path of a parameter as a part of an identifier: "lstm_kernel" for "lstm.kernel".
std::string word_of(std::string_view path);

// The C type of an element of a port. A bool is a byte; f16 and bf16 are passed as their bits, uint16_t.
std::string port_type(DType);

// The C names of a port, and the expressions for it inside a function.
struct Port {
  std::string value;    // the element as a C expression: a parameter, or an element of a ring
  std::string present;  // the parameter that says whether the port is present, if it may be absent
};
// Names for the ports: those of the program, if they are identifiers that are not reserved and not of the interface.
// Names are unique.
std::vector<Port> input_ports(const Core&);
std::vector<Port> output_ports(const Core&);
// Replaces NAME_ in a text by the node's name.
std::string named_after(const std::string& node, const std::string& text);

struct InterfaceParameter {
  enum Role : std::uint8_t { input_present, input, output_present, output } role = input;
  std::uint32_t port = 0;
  std::string name, type;  // `type` is that of a step's parameter: `float`, `const float*`
  std::string element;     // the type of an element; for functions over many rows, `const float*`
  bool by_value = false;
  std::int64_t elements = 1;  // number of elements of one row

  bool of_input() const { return role <= input; }
};

// The parameters in the order of the ports. A port that may be absent is preceded by its presence flag.
std::vector<InterfaceParameter> input_parameters(const Core&);
std::vector<InterfaceParameter> output_parameters(const Core&);

// For example ", float x, float* y". With `rows`, every parameter is an array.
std::string parameter_list(const std::vector<InterfaceParameter>&, bool rows);
// The argument that a step gets for row `i`.
std::string row_of(const InterfaceParameter&, const std::string& i);

// The description of the ports in the first comment of the header.
std::string ports_text(const Core&);

}  // namespace rml::c99
