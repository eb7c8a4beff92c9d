#include "gradients/operator_cases.h"

namespace rml::gradients {

namespace {

using Cases = std::vector<OperatorCase>;

// Shapes of the operands of an elementwise operator: equal, or broadcast in either direction.
constexpr std::string_view pairs[][2] = {{"f64", "f64"},
                                         {"f64[3]", "f64"},
                                         {"f64", "f64[3]"},
                                         {"f64[2, 3]", "f64[3]"},
                                         {"f64[2, 1]", "f64[1, 3]"},
                                         {"f64[2, 2, 1]", "f64[3]"},
                                         {"f64[1, 2, 1, 2]", "f64[2, 1, 3, 1]"}};

void add_elementwise(Cases& list) {
  const std::vector<std::vector<std::string_view>> binary = {{"add", "p", "q"},
                                                             {"sub", "p", "q"},
                                                             {"mul", "p", "q"},
                                                             {"div", "p", "2.0 + q"},
                                                             {"mod", "p + 3.0", "2.0 + 0.5 * q"},
                                                             {"minimum", "p", "q"},
                                                             {"maximum", "p", "q"},
                                                             {"pow", "1.75 + p", "q"}};
  for (const auto& [a, b] : pairs) {
    for (const auto& op : binary) list.push_back({op[0], {a, b}, {op[1], op[2]}});
    list.push_back({"select", {a, b}, {"p > 0.0", "p", "q"}});
    for (const std::string_view op : {"negate", "abs", "exp", "sin", "cos", "tanh", "sigmoid", "relu"})
      list.push_back({op, {a}, {"p"}});
    for (const std::string_view op : {"log", "sqrt"}) list.push_back({op, {a}, {"1.75 + p"}});
    list.push_back({"cast", {a}, {"f64", "p"}});
    list.push_back({"cast_like", {a, b}, {"p", "q"}});
  }
  list.push_back({"sum_over_parameters", {"f64"}, {"p"}});
  list.push_back({"sum_over_elements", {"f64[2]"}, {"p"}});
  list.push_back({"sum_over_sharers", {"f64[2]"}, {"p", "0.5", "1"}});
  // Repeated operands, constants, and expressions of an operand.
  list.push_back({"mul", {"f64[3]"}, {"p", "p"}});
  list.push_back({"div", {"f64[3]"}, {"1.0", "2.0 + p"}});
  list.push_back({"pow", {"f64[3]"}, {"p", "2.0"}});
  list.push_back({"pow", {"f64[3]"}, {"2.0", "p"}});
  list.push_back({"pow", {"f64[2]"}, {"1.75 + p", "p"}});
  list.push_back({"select", {"bool[3]", "f64[2, 3]", "f64"}, {"p", "q", "r"}});
  list.push_back({"select", {"bool", "f64[2]", "f64[2]"}, {"p", "q * q", "r"}});
  list.push_back({"select", {"bool[2, 1]", "f64", "f64[3]"}, {"p", "q", "r"}});
}

void add_products(Cases& list) {
  constexpr std::string_view shapes[][2] = {{"f64[3]", "f64[3]"},
                                            {"f64[2, 3]", "f64[3]"},
                                            {"f64[3]", "f64[3, 2]"},
                                            {"f64[2, 3]", "f64[3, 4]"},
                                            {"f64[4, 2, 3]", "f64[3, 2]"},
                                            {"f64[2, 3]", "f64[2, 3, 2]"},
                                            {"f64[2, 1, 2, 3]", "f64[3, 3, 2]"},
                                            {"f64[2, 2, 3]", "f64[3]"},
                                            {"f64[3]", "f64[2, 3, 2]"},
                                            {"f64[1, 1]", "f64[1]"}};
  for (const auto& [a, b] : shapes) list.push_back({"matmul", {a, b}, {"p", "q"}});
  list.push_back({"matmul", {"f64[2, 2]"}, {"p", "p"}});
  list.push_back({"outer", {"f64[2]", "f64[3]"}, {"p", "q"}});
  list.push_back({"outer", {"f64[2]"}, {"p", "p"}});
  list.push_back({"dot", {"f64[3]", "f64[3]"}, {"p", "q"}});
  list.push_back({"dot", {"f64[3]"}, {"p", "p"}});
  for (const std::string_view shape : {"f64[3]", "f64[2, 3]"})
    for (const std::string_view op : {"as_row", "as_column"}) list.push_back({op, {shape}, {"p"}});
}

void add_structure(Cases& list) {
  list.push_back({"transpose", {"f64[2, 3]"}, {"p"}});
  list.push_back({"transpose", {"f64[2, 3, 2]"}, {"p", "axes=[1, 2, 0]"}});
  list.push_back({"transpose", {"f64[2, 3, 2]"}, {"p", "axes=[1, 2, 0]", "inverse=1"}});
  list.push_back({"transpose", {"f64[2, 3, 2]"}, {"p", "axes=[-1, -2]"}});
  list.push_back({"reshape", {"f64[2, 3]"}, {"[3, -1]", "p"}});
  list.push_back({"reshape", {"f64[4]"}, {"[2, 1, 2]", "p"}});
  list.push_back({"expand_dims", {"f64[2, 3]"}, {"p", "1"}});
  list.push_back({"expand_dims", {"f64[2]"}, {"p", "[0, -1]"}});
  list.push_back({"squeeze", {"f64[1, 3, 1]"}, {"p"}});
  list.push_back({"squeeze", {"f64[1, 3, 1]"}, {"p", "axis=-1"}});
  list.push_back({"broadcast_to", {"f64"}, {"p", "[2, 3]"}});
  list.push_back({"broadcast_to", {"f64[3, 1]"}, {"p", "[2, 3, 2]"}});
  list.push_back({"concat", {"f64[2]", "f64[3]"}, {"p", "q"}});
  list.push_back({"concat", {"f64[2, 3]", "f64[1, 3]", "f64[2, 3]"}, {"p", "q", "r"}});
  list.push_back({"concat", {"f64[2, 3]", "f64[2, 1]"}, {"p", "q", "axis=-1"}});
  list.push_back({"concat", {"f64[2]"}, {"p", "p * p"}});
  list.push_back({"array", {"f64", "f64", "f64"}, {"p", "q", "r"}});
  list.push_back({"array", {"f64[2]", "f64[2]"}, {"p", "q"}});
  list.push_back({"array", {"f64"}, {"p", "p", "sin(p)"}});
  list.push_back({"index", {"f64[2, 3]", "i32"}, {"p", "q"}});
  list.push_back({"index", {"f64[2, 3]", "i32", "i32"}, {"p", "q", "r + 1"}});
  list.push_back({"index", {"f64[3]"}, {"p", "2"}});
  list.push_back({"place", {"f64", "i32"}, {"[3]", "p", "q"}});
  list.push_back({"place", {"f64[2]", "i32", "i32"}, {"[2, 3, 2]", "p", "q", "r"}});
  list.push_back({"slice", {"f64[4]"}, {"p", "1", "-1"}});
  list.push_back({"slice", {"f64[2, 3, 4]"}, {"p", "starts=[0, 1]", "stops=[2, 3]"}});
  list.push_back({"slice", {"f64[2, 3, 4]"}, {"p", "starts=[0, 1, -4]", "steps=[1, 1, 2]"}});
  list.push_back({"slice", {"f64[5, 4]"}, {"p", "starts=[-1, 3]", "stops=[0, -5]", "steps=[-2, -1]"}});
  list.push_back({"place_slice", {"f64[2]"}, {"[5]", "p", "1", "3"}});
  list.push_back({"place_slice", {"f64[2]"}, {"[5]", "p", "-1", "0", "-2"}});
  list.push_back({"place_slice", {"f64[2, 2]"}, {"[4, 2]", "p", "steps=2"}});
}

void add_reductions(Cases& list) {
  for (const std::string_view op : {"sum", "mean", "min", "max"}) {
    for (const std::string_view shape : {"f64", "f64[4]", "f64[2, 3]", "f64[2, 2, 3]"}) {
      list.push_back({op, {shape}, {"p"}});
      list.push_back({op, {shape}, {"p", "keepdims=1"}});
    }
    for (const std::string_view shape : {"f64[4]", "f64[2, 3]", "f64[2, 2, 3]"}) {
      list.push_back({op, {shape}, {"p", "axis=-1"}});
      list.push_back({op, {shape}, {"p", "axis=0", "keepdims=1"}});
    }
    list.push_back({op, {"f64[2, 2, 3]"}, {"p", "axis=[0, -1]"}});
  }
  list.push_back({"sum_to", {"f64[2, 3]"}, {"p", "[3]"}});
  list.push_back({"sum_to", {"f64[2, 3, 2]"}, {"p", "[3, 1]"}});
  list.push_back({"full", {"f64"}, {"[2, 3]", "p"}});
}

}  // namespace

std::string OperatorCase::expression() const {
  std::string text = std::string(op) + "(";
  for (std::size_t k = 0; k < arguments.size(); ++k) text += (k > 0 ? ", " : "") + std::string(arguments[k]);
  return text + ")";
}

const std::vector<OperatorCase>& operator_cases() {
  static const Cases all = [] {
    Cases list;
    add_elementwise(list);
    add_products(list);
    add_structure(list);
    add_reductions(list);
    add_functions(list);
    add_decompositions(list);
    for (OperatorCase& c : window_cases()) list.push_back(std::move(c));
    add_indexing_cases(list);
    return list;
  }();
  return all;
}

}  // namespace rml::gradients
