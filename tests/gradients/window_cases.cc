// Applications of operators that slide windows over an operand.
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
      {"resize", {"f64[2, 3]"}, {"p", "-1", "5"}},
      {"resize", {"f64[4, 2]"}, {"p", "0", "3", R"(mode="cubic")", R"(coordinates="align_corners")"}},
      {"resize", {"f64[5]"}, {"p", "0", "2", R"(mode="cubic")", "antialias=1", "exclude_outside=1"}},
      {"resize", {"f64[4]"}, {"p", "0", "3", R"(coordinates="crop")", "start=0.3", "end=1.2", "value=5.0"}},
      {"resize", {"f64[2, 2, 2]"}, {"p", "1", "3", R"(mode="nearest_ceil")", "scale=1.7"}},
      {"grid_sample", {"f64[1, 2, 3, 2]", "f64[1, 2, 2, 2]"}, {"p", "q"}},
      {"grid_sample", {"f64[1, 1, 3, 4]", "f64[1, 1, 3, 2]"}, {"p", "q", R"(mode="cubic")", R"(padding="reflection")"}},
      {"grid_sample",
       {"f64[1, 1, 2, 3, 2]", "f64[1, 1, 1, 2, 3]"},
       {"p", "q", R"(padding="border")", "align_corners=1"}},
      {"grid_sample", {"f64[1, 1, 2, 2]", "f64[1, 1, 1, 2]"}, {"p", "q", R"(mode="nearest")"}},
      {"sum_grid_sample", {"f64[1, 2, 1, 2]", "f64[1, 1, 2, 2]"}, {"[1, 2, 2, 3]", "p", "q"}},
      {"sum_resize", {"f64[2, 5]"}, {"p", "-1", "3"}},
      {"sum_resize", {"f64[3]"}, {"p", "0", "4", R"(coordinates="crop")", "start=0.3", "end=1.2", "value=5.0"}},
  };
}

}  // namespace rml::gradients
