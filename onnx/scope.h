// The equations of an imported program, node by node.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace rml::onnx {

struct Equation {
  std::string comment;  // the operator of the model; empty: written directly below the equation before
  std::string text;
};

// A node of the program whose equations are being written.
struct Scope {
  std::string name;
  std::vector<std::string> inputs, outputs;  // texts of the ports, for example "x: f32[1, 3]"
  std::vector<Equation> equations;
  std::set<std::string> names;
  std::map<std::string, int> counts;  // last number appended to each base name to make it unique
};

}  // namespace rml::onnx
