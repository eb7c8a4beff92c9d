// Applications of every operator that has a derivative, as a table: what the tests of gradients
// run through.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rml::gradients {

// `op(arguments…)`, over p, q, r of these types, which are drawn from [-1.25, 1.25], 0 and 1, or
// false and true. Arguments keep within the operator's domain and away from its jumps.
struct OperatorCase {
  std::string_view op;
  std::vector<std::string_view> types, arguments;

  std::string expression() const;
};

void add_decompositions(std::vector<OperatorCase>&);

const std::vector<OperatorCase>& operator_cases();
// A part of them (window_cases.cc).
std::vector<OperatorCase> window_cases();

// Of one family each, in a file of its own.
void add_functions(std::vector<OperatorCase>&);

// A family's part of them.
void add_indexing_cases(std::vector<OperatorCase>&);

}  // namespace rml::gradients
