// Applications of functions, bounds, and operators that are defined by others: softmax,
// variances, norms.
#include "gradients/operator_cases.h"

namespace rml::gradients {

void add_functions(std::vector<OperatorCase>& list) {
  for (const std::string_view type : {"f64", "f64[3]", "f64[2, 3]"}) {
    for (const std::string_view op :
         {"expm1", "exp2", "tan", "atan", "sinh", "cosh", "asinh", "erf", "erfc", "softplus", "square"})
      list.push_back({op, {type}, {"p"}});
    for (const std::string_view op :
         {"log1p", "log2", "log10", "reciprocal", "rsqrt", "cbrt", "nonzero_pivot", "positive_pivot"})
      list.push_back({op, {type}, {"1.75 + p"}});
    for (const std::string_view op : {"asin", "acos", "atanh"}) list.push_back({op, {type}, {"0.5 * p"}});
    list.push_back({"acosh", {type}, {"2.75 + p"}});
  }
  constexpr std::string_view pairs[][2] = {
      {"f64", "f64"}, {"f64[3]", "f64"}, {"f64", "f64[3]"}, {"f64[2, 3]", "f64[3]"}, {"f64[2, 1]", "f64[1, 3]"}};
  for (const auto& [a, b] : pairs) {
    list.push_back({"atan2", {a, b}, {"p", "1.75 + q"}});
    list.push_back({"hypot", {a, b}, {"p", "1.75 + q"}});
    list.push_back({"copysign", {a, b}, {"1.75 + p", "stop_gradient(0.0 - q)"}});
    list.push_back({"floor_mod", {a, b}, {"-3.0 - 0.5 * p", "4.0 + 0.5 * q"}});
    list.push_back({"clip", {a, b}, {"p", "-0.5 + 0.125 * q", "0.5 + 0.125 * q"}});
  }
  list.push_back({"clip", {"f64[2, 3]", "f64[3]", "f64"}, {"p", "q - 1.5", "r + 1.5"}});
  for (const std::string_view op : {"prod", "logsumexp", "var", "std", "norm"}) {
    for (const std::string_view type : {"f64[4]", "f64[2, 3]", "f64[2, 2, 3]"}) {
      list.push_back({op, {type}, {"p"}});
      list.push_back({op, {type}, {"p", "axis=-1"}});
      list.push_back({op, {type}, {"p", "axis=0", "keepdims=1"}});
    }
    list.push_back({op, {"f64[2, 2, 3]"}, {"p", "axis=[0, -1]"}});
  }
  for (const std::string_view axis : {"axis=0", "axis=[2, 0]", "axis=-1"})
    list.push_back({"axes_last", {"f64[2, 2, 3]"}, {"p", axis}});
  list.push_back({"axes_back", {"f64[2, 3, 4]"}, {"[4, 2, 3]", "p", "axis=0"}});
  list.push_back({"axes_back", {"f64[3, 8]"}, {"[4, 3, 2]", "p", "axis=[0, 2]"}});
  for (const std::string_view type : {"f64[1]", "f64[3]", "f64[5, 2]", "f64[4, 2, 3]"})
    list.push_back({"tree_sum", {type}, {"p"}});
  for (const std::string_view op : {"var", "std"}) list.push_back({op, {"f64[2, 3]"}, {"p", "axis=1", "ddof=1"}});
  for (const std::string_view ord : {"ord=1", "ord=3", "ord=1.5", "ord=1.0 / 0.0"})
    list.push_back({"norm", {"f64[2, 3]"}, {"p", "axis=1", ord}});
  for (const std::string_view ord : {"ord=1", "ord=2", "ord=3", "ord=1.5"}) {
    list.push_back({"norm_slope", {"f64[2, 3]", "f64[2, 1]"}, {"p", "1.75 + q", "axis=1", ord}});
    list.push_back({"norm_slope", {"f64[3]", "f64"}, {"p", "1.75 + q", ord}});
    list.push_back({"norm_slope", {"f64[3]", "f64"}, {"1.75 + p", "3.75 + q", ord, "times=1"}});
    list.push_back({"norm_slope", {"f64[3]", "f64"}, {"1.75 + p", "3.75 + q", ord, "times=2"}});
  }
  for (const std::string_view op : {"softmax", "log_softmax"}) {
    list.push_back({op, {"f64[3]"}, {"p"}});
    list.push_back({op, {"f64[2, 3]"}, {"p", "axis=0"}});
    list.push_back({op, {"f64[2, 3, 2]"}, {"p", "axis=[0, 1]"}});
  }
}

}  // namespace rml::gradients
