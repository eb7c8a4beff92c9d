// Applications of operators that move, find, order and contract elements.
#include "gradients/operator_cases.h"

namespace rml::gradients {

namespace {

using Cases = std::vector<OperatorCase>;

void add_moves(Cases& list) {
  for (const std::string_view mode :
       {R"(mode="constant")", R"(mode="edge")", R"(mode="reflect")", R"(mode="symmetric")", R"(mode="wrap")"}) {
    list.push_back({"pad", {"f64[3]"}, {"p", "2", "1", mode}});
    list.push_back({"pad", {"f64[3]"}, {"p", "5", "-1", mode}});
    list.push_back({"pad", {"f64[2, 3]"}, {"p", "[1, 0]", "[0, 2]", mode}});
    list.push_back({"sum_pad", {"f64[6]"}, {"[3]", "p", "2", "1", mode}});
  }
  list.push_back({"pad", {"f64[3]"}, {"p", "1", "1", "value=2.5"}});
  list.push_back({"tile", {"f64[2]"}, {"p", "3"}});
  list.push_back({"tile", {"f64[2, 3]"}, {"p", "[2, 1, 2]"}});
  list.push_back({"sum_tile", {"f64[2, 4]"}, {"[1, 2]", "p", "2 * [1, 1]"}});
  list.push_back({"repeat", {"f64[2, 3]"}, {"p", "2"}});
  list.push_back({"repeat", {"f64[2, 3]"}, {"p", "2", "axis=-1"}});
  list.push_back({"sum_repeat", {"f64[4, 2]"}, {"[2, 2]", "p", "2", "axis=0"}});
  list.push_back({"roll", {"f64[2, 3]"}, {"p", "1"}});
  list.push_back({"roll", {"f64[2, 3]"}, {"p", "[1, -1]", "axis=[0, 1]"}});
  list.push_back({"flip", {"f64[2, 3]"}, {"p"}});
  list.push_back({"flip", {"f64[2, 3]"}, {"p", "axis=1"}});
  list.push_back({"diagonal", {"f64[3, 4]"}, {"p", "offset=1"}});
  list.push_back({"diagonal", {"f64[2, 3, 2]"}, {"p", "axis1=-1", "axis2=0"}});
  list.push_back({"sum_diagonal", {"f64[2]"}, {"[3, 2]", "p"}});
  list.push_back({"sum_diagonal", {"f64[3, 1]"}, {"[2, 3, 2]", "p", "1", "0", "2"}});
  list.push_back({"diag", {"f64[3]"}, {"p", "k=-1"}});
  list.push_back({"diag", {"f64[2, 3]"}, {"p"}});
  list.push_back({"sum_diag", {"f64[2]"}, {"[2, 3]", "p", "1"}});
  list.push_back({"sum_diag", {"f64[3, 3]"}, {"[2]", "p", "1"}});
}

void add_gathers(Cases& list) {
  list.push_back({"take", {"f64[2, 3]", "i32[4]"}, {"p", "q"}});
  list.push_back({"take", {"f64[2, 3]", "i32"}, {"p", "q", "axis=1"}});
  list.push_back({"take", {"f64[2, 3]", "i32[2, 2]"}, {"p", "q - 2", "axis=0"}});
  list.push_back({"sum_take", {"f64[3]", "i32[3]"}, {"[2]", "p", "q"}});
  list.push_back({"sum_take", {"f64[2, 3]", "i32[3]"}, {"[2, 2]", "p", "q - 1", "axis=1"}});
  list.push_back({"add_at", {"f64[4]", "f64[3]", "i32[3]"}, {"p", "q", "r"}});
  list.push_back({"add_at", {"f64[2, 2]", "f64[2, 3]", "i32[3]"}, {"p", "q", "r - 1", "axis=1"}});
  list.push_back({"gather_elements", {"f64[2, 3]", "i32[3, 2]"}, {"p", "q", "axis=0"}});
  list.push_back({"gather_elements", {"f64[2, 3]", "i32[2, 3]"}, {"p", "q - 1", "axis=-1"}});
  list.push_back({"take_along_axis", {"f64[2, 3]", "i32[1, 2]"}, {"p", "q"}});
  list.push_back({"take_along_axis", {"f64[2, 3]", "i32[4, 1]"}, {"p", "q", "axis=0"}});
  list.push_back({"gather_nd", {"f64[2, 3]", "i32[3, 2]"}, {"p", "q"}});
  list.push_back({"gather_nd", {"f64[2, 3]", "i32[2, 2]"}, {"p", "expand_dims(q, -1)", "batch_dims=1"}});
  constexpr std::string_view reductions[] = {R"(reduction="none")", R"(reduction="add")", R"(reduction="min")",
                                             R"(reduction="max")"};
  for (const std::string_view reduction : reductions) {
    for (const std::string_view by : {"by=0", "by=1"}) {
      const std::string_view same[] = {"[0.5, -0.25, 1.5]", "[2, 0, 2, 1]", "[1.0, 0.75, -2.0, 1.25]"};
      const std::string_view result = reduction.find("add") != std::string_view::npos   ? "[1.25, 1.0, 0.5]"
                                      : reduction.find("min") != std::string_view::npos ? "[0.5, -0.25, -2.0]"
                                      : reduction.find("max") != std::string_view::npos ? "[0.75, 1.25, 1.5]"
                                                                                        : "[0.75, 1.25, -2.0]";
      const std::string_view moved = by == "by=0" ? "f64[3]" : "f64[4]";
      list.push_back(
          {"scatter_elements_gradient", {"f64[3]"}, {same[0], same[1], same[2], result, "p", reduction, by}});
      list.push_back({"scatter_elements_tangent", {moved}, {same[0], same[1], same[2], result, "p", reduction, by}});
      const std::string_view tuples = "[[2], [0], [2], [1]]";
      list.push_back({"scatter_nd_gradient", {"f64[3]"}, {same[0], tuples, same[2], result, "p", reduction, by}});
      list.push_back({"scatter_nd_tangent", {moved}, {same[0], tuples, same[2], result, "p", reduction, by}});
    }
  }
  for (const std::string_view op : {"scatter_elements_gradient", "scatter_nd_gradient"}) {
    const std::string_view i = op == "scatter_nd_gradient" ? "[[0], [0]]" : "[0, 0]";
    list.push_back({op, {"f64[2]", "f64[2]"}, {"p", i, "q", "p", "[2.0, 3.0]", R"(reduction="add")", "by=1"}});
  }
  for (const std::string_view reduction : {R"(reduction="none")", R"(reduction="add")", R"(reduction="mul")",
                                           R"(reduction="min")", R"(reduction="max")"}) {
    list.push_back({"scatter_elements", {"f64[3]", "i32[4]", "f64[4]"}, {"p", "q", "r", reduction}});
    list.push_back({"scatter_elements", {"f64[2, 3]", "i32[2, 2]", "f64[2, 2]"}, {"p", "q", "r", "axis=1", reduction}});
    list.push_back({"scatter_nd", {"f64[2, 2]", "i32[3, 1]", "f64[3, 2]"}, {"p", "q", "r", reduction}});
    list.push_back(
        {"scatter_nd", {"f64[2, 2]", "i32[2, 3, 1]", "f64[2, 3]"}, {"p", "q", "r", "batch_dims=1", reduction}});
  }
  list.push_back({"dynamic_slice", {"f64[4, 2]", "i32[1]"}, {"p", "q", "[2]"}});
  list.push_back({"dynamic_slice", {"f64[4, 3]", "i32[2]"}, {"p", "q", "[2, 1]"}});
  list.push_back({"dynamic_update_slice", {"f64[4, 3]", "f64[2, 1]", "i32[2]"}, {"p", "q", "r"}});
  list.push_back({"dynamic_update_slice", {"f64[4, 2]", "f64[1, 2]", "i32[1]"}, {"p", "q", "r"}});
}

void add_orders(Cases& list) {
  for (const std::string_view axis : {"axis=0", "axis=-1"}) {
    list.push_back({"sort", {"f64[3, 2]"}, {"p", axis}});
    list.push_back({"sort", {"f64[3, 2]"}, {"p", axis, "descending=1"}});
    for (const std::string_view op : {"cumsum", "cumprod"}) {
      list.push_back({op, {"f64[3, 2]"}, {"p", axis}});
      list.push_back({op, {"f64[3, 2]"}, {"p", axis, "exclusive=1"}});
      list.push_back({op, {"f64[3, 2]"}, {"p", axis, "reverse=1"}});
      list.push_back({op, {"f64[3, 2]"}, {"p", axis, "exclusive=1", "reverse=1"}});
      list.push_back({op, {"f64[2, 2]"}, {"p"}});
    }
    for (const std::string_view flag : {"reverse=0", "reverse=1"})
      list.push_back({"weighted_cumsum", {"f64[3, 2]", "f64[3, 2]"}, {"p", "q", axis, flag}});
  }
  list.push_back({"weighted_cumsum", {"f64[2, 2]", "f64[2, 2]"}, {"p", "q"}});
}

void add_contractions(Cases& list) {
  list.push_back({"einsum", {"f64[2, 3]", "f64[3, 2]"}, {R"("ij,jk->ki")", "p", "q"}});
  list.push_back({"einsum", {"f64[2, 2, 3]", "f64[2, 3, 2]"}, {R"("bij,bjk->bik")", "p", "q"}});
  list.push_back({"einsum", {"f64[2, 1, 2]", "f64[1, 2, 3]"}, {R"("...ij,...jk->...ik")", "p", "q"}});
  list.push_back({"einsum", {"f64[2, 2, 3]"}, {R"("iij->j")", "p"}});
  list.push_back({"einsum", {"f64[2, 2, 2]", "f64[2]"}, {R"("iii,i->i")", "p", "q"}});
  list.push_back({"einsum", {"f64[2, 2, 3, 2, 2]"}, {R"("iijii->j")", "p"}});
  list.push_back({"einsum", {"f64[2, 3, 2, 3, 2]"}, {R"("ijiji")", "p"}});
  list.push_back({"einsum_adjoint", {"f64[2, 2]", "f64[2]"}, {R"("ii->i")", "p", "q", "parts=0"}});
  list.push_back({"einsum", {"f64[2]", "f64[2, 3]", "f64[3]"}, {R"("i,ij,j")", "p", "q", "r"}});
  list.push_back({"einsum", {"f64[2, 3]", "f64[2]"}, {R"("ij,i->")", "p", "q"}});
  list.push_back({"einsum", {"f64[2]"}, {R"("i,j,i->ij")", "p", "p", "sin(p)"}});
  list.push_back({"einsum_adjoint", {"f64[2, 3]", "f64[3]", "f64[2]"}, {R"("ij,j->i")", "p", "q", "r", "parts=[0]"}});
  list.push_back({"einsum_adjoint", {"f64[2, 2]", "f64[2]"}, {R"("ii,i->i")", "p", "q", "q", "parts=[0]"}});
  list.push_back({"tensordot", {"f64[2, 3]", "f64[3, 2]"}, {"p", "q", "1"}});
  list.push_back({"tensordot", {"f64[2, 3, 2]", "f64[3, 2, 2]"}, {"p", "q", "axes=[0, 1]", "axes_b=[2, 0]"}});
  list.push_back({"tensordot_adjoint", {"f64[2, 3]", "f64[3]", "f64[2]"}, {"p", "q", "r", "axes=1", "parts=0"}});
  list.push_back({"tensordot_adjoint", {"f64[2, 3]", "f64[3]", "f64[2]"}, {"p", "q", "r", "axes=1", "parts=[1]"}});
}

}  // namespace

void add_indexing_cases(Cases& list) {
  add_moves(list);
  add_gathers(list);
  add_orders(list);
  add_contractions(list);
}

}  // namespace rml::gradients
