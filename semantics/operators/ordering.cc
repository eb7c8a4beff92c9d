// Sorting, searching, running sums and products along an axis.
//
// NaN counts as larger than every number. Of equal elements the first comes first, in ascending
// and descending order. Positions are i32.
#include <limits>

#include "runtime/kernels/ordering.h"
#include "semantics/operators/definition.h"
#include "semantics/operators/indexing.h"
#include "semantics/operators/rules.h"

namespace rml {

namespace {

using dtypes::number, dtypes::real;

constexpr std::string_view positions_only = "none: a small change of the values does not change the positions";

// The error if there is not one integer, at most one existing axis, and then flags; else an empty
// string.
std::string axis_and_flags_error(const Application& app, std::size_t axis, std::size_t rank,
                                 std::initializer_list<std::string_view> flags) {
  for (std::size_t k = 0; k <= axis; ++k) {
    const Attribute& a = app.attributes[k];
    if (a.given && a.integers.size() != 1)
      return std::string(k == axis ? "axis" : "k") + " must be one integer, not " + to_string(a.integers);
  }
  std::size_t next = axis;
  for (const std::string_view flag : flags)
    if (std::string error = flag_error(app.attributes[++next], flag); !error.empty()) return error;
  const Attribute& a = app.attributes[axis];
  return !a.given || normalized_axis(a.integers[0], rank) ? "" : axis_error(a.integers[0], rank);
}

std::string too_long(std::int64_t extent) {
  if (extent <= std::numeric_limits<std::int32_t>::max()) return "";
  return "positions among " + std::to_string(extent) + " elements do not fit i32";
}

ShapeResult sort_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  if (std::string error = axis_and_flags_error(app, 0, x.size(), {"descending"}); !error.empty()) return error;
  if (std::string error = too_long(x[*normalized_axis(app.attributes[0].integers[0], x.size())]); !error.empty())
    return error;
  return x;
}

ShapeResult argtopk_shape(const Application& app) {
  Shape x = app.operand_shapes[0];
  if (std::string error = axis_and_flags_error(app, 1, x.size(), {"largest"}); !error.empty()) return error;
  const std::size_t axis = *normalized_axis(app.attributes[1].integers[0], x.size());
  const std::int64_t k = app.attributes[0].integers[0];
  if (k < 0 || k > x[axis])
    return "k = " + std::to_string(k) + " of the " + std::to_string(x[axis]) + " elements along axis " +
           std::to_string(axis) + " of " + to_string(x);
  if (std::string error = too_long(x[axis]); !error.empty()) return error;
  x[axis] = k;
  return x;
}

// Scratch space for the positions along one line.
template <std::size_t axis>
std::int64_t order_scratch(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  return 4 * x[*normalized_axis(app.attributes[axis].integers[0], x.size())];
}

ShapeResult searchsorted_shape(const Application& app) {
  const Shape& sorted = app.operand_shapes[0];
  if (sorted.size() != 1) return "searchsorted searches a vector, not " + to_string(sorted);
  if (std::string error = flag_error(app.attributes[0], "right"); !error.empty()) return error;
  if (std::string error = too_long(sorted[0]); !error.empty()) return error;
  return app.operand_shapes[1];
}

ShapeResult accumulated_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  if (std::string error = axis_and_flags_error(app, 0, x.size(), {"exclusive", "reverse"}); !error.empty())
    return error;
  return app.attributes[0].given ? x : Shape{*element_count(x)};
}

ShapeResult weighted_shape(const Application& app) {
  const Shape &x = app.operand_shapes[0], &w = app.operand_shapes[1];
  if (x != w) return "elements of shape " + to_string(x) + " have weights of another, " + to_string(w);
  if (std::string error = axis_and_flags_error(app, 0, x.size(), {"reverse"}); !error.empty()) return error;
  return app.attributes[0].given ? x : Shape{*element_count(x)};
}

// ---- short axes, without a kernel --------------------------------------------------------------

// Longer axes, and larger tensors, are left to the kernel: the code compares each pair of elements along the axis.
bool fits_code(const Shape& x, std::int64_t extent) {
  return extent <= longest_axis_in_code && *element_count(x) <= most_elements_in_code;
}

// A text that is true where a comes before b in the order of the kernels, in which NaN is larger
// than all numbers. `a` and `b` are names; a_nan and b_nan are true where they are NaN.
std::string before_text(DType dtype, const std::string& a, const std::string& b) {
  if (!is_float(dtype)) return "(" + a + " < " + b + ")";
  return "(" + a + " < " + b + " or (" + b + "_nan and not " + a + "_nan))";
}
// Equations for the name and, of floats, for the places of its NaNs.
std::string reshaped_text(DType dtype, const std::string& name, const std::string& shape, const std::string& x) {
  std::string text = "  " + name + " = reshape(" + shape + ", " + x + ");\n";
  if (is_float(dtype)) text += "  " + name + "_nan = reshape(" + shape + ", isnan(" + x + "));\n";
  return text;
}

// Counts, for each element, the elements before it: its position in the order. Then each place k
// takes the element at this position. The sums have one term besides -0, so they are exact.
//
//   earlier[i, j]: element j comes before element i; of equal elements the first comes first
std::string order_text(const Application& app, std::int64_t axis, bool descending, std::int64_t wanted,
                       bool positions) {
  const Shape& x = app.operand_shapes[0];
  const std::size_t along = *normalized_axis(axis, x.size());
  std::int64_t before = 1, after = 1;
  for (std::size_t k = 0; k < x.size(); ++k) (k < along ? before : after) *= k == along ? 1 : x[k];
  const auto shape = [&](std::int64_t i, std::int64_t j) { return to_string(Shape{before, i, j, after}); };
  Shape result = x;
  result[along] = wanted;
  const std::string extent = std::to_string(x[along]), count = std::to_string(wanted);
  const DType dtype = app.operand_dtypes[0];
  const std::string first = before_text(dtype, descending ? "here" : "other", descending ? "other" : "here"),
                    after_it = before_text(dtype, descending ? "other" : "here", descending ? "here" : "other");
  return "node order(x) -> (y)\n" + reshaped_text(dtype, "here", shape(x[along], 1), "x") +
         reshaped_text(dtype, "other", shape(1, x[along]), "x") + "  earlier = reshape([1, " + extent +
         ", 1, 1], iota(" + extent + ")) > reshape([1, 1, " + extent + ", 1], iota(" + extent +
         "));\n"
         "  rank = sum(cast(i32, select(earlier, not " +
         after_it + ", " + first +
         ")), axis=2, keepdims=1);\n"
         "  hit = rank == reshape([1, 1, " +
         count + ", 1], iota(" + count +
         "));\n"
         "  y = reshape(" +
         to_string(result) + ", sum(select(hit, " +
         (positions ? "reshape([1, " + extent + ", 1, 1], iota(" + extent + ")), 0" : std::string("here, -0.0")) +
         "), axis=1));\n";
}

template <bool positions>
std::string_view sort_definition(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  const std::int64_t axis = app.attributes[0].integers[0], extent = x[*normalized_axis(axis, x.size())];
  if (!fits_code(x, extent)) return {};
  return kept_definition(order_text(app, axis, app.attributes[1].integers[0] != 0, extent, positions));
}

std::string_view topk_definition(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  const std::int64_t axis = app.attributes[1].integers[0];
  if (!fits_code(x, x[*normalized_axis(axis, x.size())])) return {};
  return kept_definition(
      order_text(app, axis, app.attributes[2].integers[0] != 0, app.attributes[0].integers[0], true));
}

// The number of elements before each value, or not after it.
std::string_view search_definition(const Application& app) {
  const Shape& values = app.operand_shapes[1];
  const std::int64_t extent = app.operand_shapes[0][0];
  if (!fits_code(values, extent)) return {};
  const DType dtype = app.operand_dtypes[0];
  const bool right = app.attributes[0].integers[0] != 0;
  return kept_definition(
      "node count(a, v) -> (y)\n" + reshaped_text(dtype, "one", "[1, " + std::to_string(extent) + "]", "a") +
      reshaped_text(dtype, "of", "[" + std::to_string(*element_count(values)) + ", 1]", "v") +
      "  y = reshape(shape(v), sum(cast(i32, " +
      (right ? "not " + before_text(dtype, "of", "one") : before_text(dtype, "one", "of")) + "), axis=1));\n");
}

OperatorInfo with_definition(OperatorInfo info, std::string_view (*definition)(const Application&)) {
  info.definition = definition;
  return info;
}

std::vector<OperatorParameter> sorting() {
  return {operand("x", number), integers("axis", "-1"), integers("descending", "0")};
}
// The product of all elements before x, times a sum over the results that contain x: their
// adjoints times the other elements multiplied since. There is no division, so derivatives of any
// order are right at elements 0.
constexpr std::string_view cumulative_product_rule =
    "reshape(shape(x), cumprod(reshape(shape(dy), x), axis=axis, exclusive=1, reverse=reverse) * "
    "select(exclusive == 1, weighted_cumsum(dy, reshape(shape(dy), x), axis=axis, reverse=1 - reverse), "
    "dy + weighted_cumsum(dy * reshape(shape(dy), x), reshape(shape(dy), x), axis=axis, reverse=1 - reverse)))";

std::vector<OperatorParameter> accumulating(DTypeSet allowed) {
  return {operand("x", allowed), integers("axis", "all"), integers("exclusive", "0"), integers("reverse", "0")};
}

std::vector<OperatorInfo> sorting_rows() {
  return {
      with_definition(
          kernel_row<rml_kernel_sort, order_scratch<0>>(
              "sort", "rml_kernel_sort", sorting(), same(number), sort_shape,
              {"scatter_elements(zeros_like(x), argsort(x, axis=axis, descending=descending), dy, axis=axis)"},
              {"",
               "The elements of x in ascending order along the axis, or in descending order with descending=1. NaN "
               "counts "
               "as larger than all numbers.",
               "sort([3, 1, 2]) -- [1,2,3]"}),
          sort_definition<false>),
      with_definition(kernel_row<rml_kernel_argsort, order_scratch<0>>(
                          "argsort", "rml_kernel_argsort", sorting(), exactly(DType::i32), sort_shape, {positions_only},
                          {"", "The positions that sort the elements along the axis. Equal elements keep their order.",
                           "argsort([3, 1, 2]) -- [1,2,0]"}),
                      sort_definition<true>),
      with_definition(
          kernel_row<rml_kernel_argtopk, order_scratch<1>>(
              "argtopk", "rml_kernel_argtopk",
              {operand("x", number), integers("k"), integers("axis", "-1"), integers("largest", "1")},
              exactly(DType::i32), argtopk_shape, {positions_only},
              {"TopK",
               "The positions of the k largest elements along the axis, or of the k smallest with largest=0, beginning "
               "with the most extreme. Of equal elements, the first comes first. The elements are `gather_elements(x, "
               "argtopk(x, k, axis), axis)`.",
               "argtopk([3, 1, 4, 4], 2) -- [2,3]"}),
          topk_definition),
      with_definition(kernel_row<rml_kernel_searchsorted>(
                          "searchsorted", "rml_kernel_searchsorted",
                          {operand("a", number), operand("v", number), integers("right", "0")}, exactly(DType::i32),
                          searchsorted_shape, {positions_only, positions_only},
                          {"",
                           "For each element of v, how many elements of the ascending vector a are less than it, or "
                           "with right=1 not "
                           "greater: the position at which it would be inserted. The order of a is not checked.",
                           "searchsorted([1, 3, 5], [0, 3, 9]) -- [0,1,3]"}),
                      search_definition),
  };
}

std::vector<OperatorInfo> running_rows() {
  return {
      kernel_row<rml_kernel_cumsum>(
          "cumsum", "rml_kernel_cumsum", accumulating(number), same(number), accumulated_shape,
          {"reshape(shape(x), cumsum(dy, axis=axis, exclusive=exclusive, reverse=1 - reverse))"},
          {"CumSum",
           "The sums of all elements up to each position along the axis, or of all elements in row-major order. "
           "exclusive=1 leaves out the element at the position itself, and reverse=1 begins at the end.",
           "cumsum([1, 2, 3]) -- [1,3,6]"}),
      kernel_row<rml_kernel_cumprod>(
          "cumprod", "rml_kernel_cumprod", accumulating(number), same(number), accumulated_shape,
          {cumulative_product_rule},
          {"CumProd", "The products of all elements up to each position, with the arguments of cumsum.",
           "cumprod([1, 2, 3]) -- [1,2,6]"}),
      kernel_row<rml_kernel_weighted_cumsum>(
          "weighted_cumsum", "rml_kernel_weighted_cumsum",
          {operand("x", real), operand("w", real), integers("axis", "all"), integers("reverse", "0")}, same(real),
          weighted_shape,
          {"reshape(shape(x), weighted_cumsum(dy, reshape(shape(dy), w), axis=axis, reverse=1 - reverse))",
           "reshape(shape(w), y * weighted_cumsum(dy, reshape(shape(dy), w), axis=axis, reverse=1 - reverse))"},
          {"",
           "The weighted sums of all elements before each position along the axis, or of all elements in row-major "
           "order: y[0] = 0 and y[k] = x[k - 1] + w[k - 1] y[k - 1], so each element is multiplied by the weights "
           "between it and the position. reverse=1 begins at the end.",
           "weighted_cumsum([1.0, 2.0, 3.0], [9.0, 10.0, 9.0]) -- [0,1,12]"}),
  };
}

}  // namespace

std::vector<OperatorInfo> ordering_operators() {
  std::vector<OperatorInfo> rows = sorting_rows();
  for (OperatorInfo& info : running_rows()) rows.push_back(std::move(info));
  return rows;
}

}  // namespace rml
