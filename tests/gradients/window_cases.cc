// Applications of the operators that slide windows over an operand.
#include "gradients/operator_cases.h"

namespace rml::gradients {

std::vector<OperatorCase> window_cases() {
  return {
      {"conv", {"f64[1, 1, 4]", "f64[1, 1, 2]"}, {"p", "q"}},
      {"conv", {"f64[1, 2, 5]", "f64[2, 1, 2]"}, {"p", "q", "groups=2", "strides=2", "padding=[0, 1]"}},
      {"conv",
       {"f64[1, 2, 3, 4]", "f64[1, 2, 2, 2]"},
       {"p", "q", "dilations=[1, 2]", "padding=[1, 0, 0, 1]", "strides=[2, 1]"}},
      {"conv", {"f64[2, 1, 3, 2]", "f64[2, 1, 2, 2]"}, {"p", "q", "same=1"}},
      {"conv", {"f64[1, 1, 3]"}, {"p", "p"}},
      {"conv", {"f64[1, 1, 2, 2, 2]", "f64[1, 1, 1, 2, 2]"}, {"p", "q", "same=2", "strides=2"}},
      {"conv_transpose", {"f64[1, 2, 2]", "f64[2, 1, 2]"}, {"p", "q", "strides=2", "output_padding=1"}},
      {"conv_transpose", {"f64[1, 2, 2, 2]", "f64[2, 1, 2, 2]"}, {"p", "q", "groups=2", "padding=[1, 0, 0, 0]"}},
      {"conv_transpose", {"f64[1, 1, 2]", "f64[1, 1, 3]"}, {"p", "q", "same=1", "strides=2"}},
      {"conv_input_gradient", {"f64[1, 2, 2]", "f64[2, 1, 2]"}, {"[1, 1, 4]", "p", "q", "strides=2"}},
      {"conv_weight_gradient", {"f64[1, 1, 4]", "f64[1, 2, 2]"}, {"[2, 1, 2]", "p", "q", "strides=2"}},
      {"max_pool", {"f64[1, 1, 4]"}, {"p", "2"}},
      {"max_pool", {"f64[1, 2, 3, 3]"}, {"p", "2", "strides=1", "padding=[1, 0, 0, 1]"}},
      {"max_pool", {"f64[1, 1, 5]"}, {"p", "2", "dilations=2", "ceil_mode=1"}},
      {"max_pool_select", {"f64[1, 1, 4]", "f64[1, 1, 4]"}, {"p", "q", "2"}},
      {"max_pool_gradient", {"f64[1, 1, 4]", "f64[1, 1, 3]"}, {"p", "q", "2", "strides=1"}},
      {"average_pool", {"f64[1, 1, 4]"}, {"p", "3", "strides=2", "padding=1"}},
      {"average_pool", {"f64[1, 1, 3, 3]"}, {"p", "2", "same=1", "count_include_pad=1"}},
      {"average_pool_gradient", {"f64[1, 1, 2]"}, {"[1, 1, 5]", "p", "2"}},
      {"sum_pool", {"f64[1, 1, 3, 3]"}, {"p", "[2, 3]", "strides=1", "same=2"}},
      {"sum_pool_gradient", {"f64[1, 1, 3]"}, {"[1, 1, 4]", "p", "2", "strides=1"}},
      {"im2col", {"f64[1, 2, 4]"}, {"p", "2", "strides=2", "padding=1"}},
      {"col2im", {"f64[1, 2, 3]"}, {"[1, 1, 4]", "p", "2"}},
  };
}

}  // namespace rml::gradients
