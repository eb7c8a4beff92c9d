// A table with applications of every operator that has a derivative, for the tests of gradients.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rml::gradients {

// `op(arguments…)` over p, q, r of these types. Floats are drawn from [-1.25, 1.25], integers
// from 0 and 1, Booleans from false and true. The arguments keep within the operator's domain and
// away from its discontinuities.
struct OperatorCase {
  std::string_view op;
  std::vector<std::string_view> types, arguments;

  std::string expression() const;
};

void add_decompositions(std::vector<OperatorCase>&);

const std::vector<OperatorCase>& operator_cases();
// The cases of windows (window_cases.cc), a part of all cases.
std::vector<OperatorCase> window_cases();

// Each of these functions adds the cases of one family of operators, and has its own file.
void add_functions(std::vector<OperatorCase>&);

// Each of these functions adds a part of a family's cases.
void add_indexing_cases(std::vector<OperatorCase>&);

}  // namespace rml::gradients
