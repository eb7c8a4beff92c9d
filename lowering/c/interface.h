// The parameters of the functions of a node, as headers of the C interface have them.
#pragma once

#include <string>
#include <vector>

#include "lowering/c/scope.h"

namespace rml::c99 {

struct Parameter {
  std::string name, type;  // of a step: `float`, `const float*`
  std::string element;     // type of an element: of rows, `const float*`
  bool input = false;
  bool by_value = false;
  std::int64_t elements = 1;  // of one row
};

// In the order of the ports, each behind the flag that says whether it is there, if it need not be.
std::vector<Parameter> input_parameters(const Core&);
std::vector<Parameter> output_parameters(const Core&);
// … and how they are named where one cycle is computed.
std::vector<Port> input_ports(const Core&);
std::vector<Port> output_ports(const Core&);

std::string parameter_list(const std::vector<Parameter>&, bool rows);

// Whether some statement of a step can stop it, or draw.
bool can_fault(const loops::Program&);
// A division by a constant asks whether that is 0.
bool never_holds(const loops::Nest&, const loops::Check&);
bool draws(const loops::Program&);

// What is told of the ports in the header's first comment.
std::string ports_text(const Core&);

}  // namespace rml::c99
