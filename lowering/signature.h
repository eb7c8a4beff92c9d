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

// What the functions of the interface call their own.
inline constexpr auto own_words =
    std::to_array<std::string_view>({"state", "memory", "bytes", "groups", "states_", "k_", "fault_", "now_"});

// What the headers declare for a node, NODE in front: functions and types, and what an object has beside them.
inline constexpr auto interface_names = std::to_array<std::string_view>(
    {"_state",     "_init",      "_reset",      "_seed",       "_message",    "_step",       "_run",
     "_step_many", "_lead",      "_advance",    "_push",       "_pop",        "_group",      "_group_init",
     "_group_put", "_group_get", "_group_step", "_group_wide", "_group_lane", "_group_lanes"});
// … and macros, which stand for something else wherever they are written.
inline constexpr auto interface_macros = std::to_array<std::string_view>(
    {"_H", "_ABI", "_LAYOUT", "_INIT_SYMBOL", "_LANES", "_GROUPS", "_BYTES", "_SEGMENT"});
// Whether some header of the node, or its object, has the name: one of those, or NODE_get_PORT.
bool is_of_interface(const Core&, std::string_view name);

bool is_letter(char);   // of an identifier, but `_`
bool is_of_word(char);  // … or that

// Of a port: bool is a byte, f16 and bf16 are their bits, uint16_t.
std::string port_type(DType);

// How a port is called, or is written in a function.
struct Port {
  std::string value;    // a parameter, or an element of a ring
  std::string present;  // of one that need not be there: the parameter
};
// By the names of the program where these are identifiers: not reserved, not of the interface, and none twice.
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
