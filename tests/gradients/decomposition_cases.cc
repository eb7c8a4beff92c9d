// Applications of linear algebra and transforms. The matrices are far from singular.
#include "gradients/operator_cases.h"

namespace rml::gradients {

void add_decompositions(std::vector<OperatorCase>& list) {
  constexpr std::string_view p2 = "p + [[4.0, 0.0], [0.0, 4.0]]";
  constexpr std::string_view p3 = "p + [[4.0, 0.0, 0.5], [0.0, 4.0, 0.0], [0.5, 0.0, 4.0]]";
  for (const std::string_view b : {"f64[2]", "f64[2, 3]", "f64[2, 1, 2, 1]"})
    list.push_back({"solve", {"f64[2, 2]", b}, {p2, "q"}});
  list.push_back({"solve", {"f64[2, 2, 2]", "f64[2]"}, {p2, "q"}});
  list.push_back({"solve", {"f64[3, 3]"}, {p3, "p"}});
  for (const std::string_view lower : {"lower=1", "lower=0"}) {
    for (const std::string_view unit : {"unit=0", "unit=1"})
      list.push_back({"triangular_solve", {"f64[3, 3]", "f64[3]"}, {p3, "q", lower, unit}});
    list.push_back({"triangular_solve", {"f64[2, 2, 2]", "f64[2, 2]"}, {p2, "q", lower}});
    list.push_back({"triangular_solve", {"f64[2, 2]", "f64[3, 2, 1]"}, {p2, "q", lower}});
  }
  for (const std::string_view op : {"inverse", "cofactor", "det", "slogdet_parts", "cholesky"}) {
    list.push_back({op, {"f64[2, 2]"}, {p2}});
    list.push_back({op, {"f64[3, 3]"}, {p3}});
    list.push_back({op, {"f64[2, 1, 2, 2]"}, {p2}});
  }
  list.push_back({"det", {"f64[2, 2]"}, {"p * [[1.0, 0.0], [1.0, 0.0]]"}});
  for (const std::string_view n : {"-2", "-1", "0", "1", "2", "5"}) {
    list.push_back({"matrix_power", {"f64[2, 2]"}, {"0.25 * p + [[1.0, 0.0], [0.0, 1.0]]", n}});
    list.push_back({"matrix_power", {"f64[2, 2, 2]"}, {"0.25 * p + [[1.0, 0.0], [0.0, 1.0]]", n}});
  }
  for (const std::string_view inverse : {"inverse=0", "inverse=1"}) {
    list.push_back({"fourier", {"f64[3, 2]"}, {"p", "fourier_plan(3)", inverse}});
    list.push_back({"fourier", {"f64[2, 4, 2]"}, {"p", "fourier_plan(4)", inverse}});
  }
  list.push_back({"real_fourier", {"f64[6]"}, {"p", "fourier_plan(6, real=1)"}});
  list.push_back({"real_fourier", {"f64[2, 5]"}, {"p", "fourier_plan(5, real=1)"}});
  list.push_back({"real_fourier_terms", {"f64[4, 2]"}, {"p", "fourier_plan(6, real=1)", "6"}});
  list.push_back({"real_fourier_terms", {"f64[2, 3, 2]"}, {"p", "fourier_plan(5, real=1)", "5"}});
  list.push_back({"frames", {"f64[7]"}, {"p", "3", "2"}});
  list.push_back({"overlap_add", {"f64[3, 2]"}, {"p", "5", "1"}});
  list.push_back({"ctc_loss", {"f64[4, 2, 3]"}, {"p", "[[1, 2], [1, 1]]", "[3, 4]", "[2, 2]"}});
  list.push_back({"ctc_loss_gradient",
                  {"f64[2]"},
                  {"p", "reshape([4, 2, 3], cast(f64, iota(24)) / 16.0)", "[[1, 2], [1, 1]]", "[3, 4]", "[2, 2]"}});
}

}  // namespace rml::gradients
