// Shows a window of cycles around the first difference, for every row that differs somewhere.
#include "driver/checks/compare_chronograms.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace rml {
namespace {

constexpr double smallest_magnitude = 1e-3;
constexpr std::size_t cycles_before = 6, cycles_after = 8;

bool near(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  if (std::isinf(a) || std::isinf(b)) return false;
  return std::abs(a - b) <= tolerance * std::max({std::abs(a), std::abs(b), smallest_magnitude});
}

template <class T>
bool all_near(const Tensor& a, const Tensor& b, double tolerance) {
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    if (!near(static_cast<double>(a.as<T>()[i]), static_cast<double>(b.as<T>()[i]), tolerance)) return false;
  }
  return true;
}

std::optional<std::size_t> first_difference(const ChronogramRow& a, const ChronogramRow& b, double tolerance) {
  const std::size_t common = std::min(a.cells.size(), b.cells.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (!same_cell(a.cells[i], b.cells[i], tolerance)) return i;
  }
  if (a.cells.size() != b.cells.size()) return common;
  return std::nullopt;
}

// At most `count` of the cells, from `begin` on.
std::vector<Cell> window(const std::vector<Cell>& cells, std::size_t begin, std::size_t count) {
  const std::size_t first = std::min(begin, cells.size());
  const std::size_t last = std::min(begin + count, cells.size());
  return {cells.begin() + static_cast<std::ptrdiff_t>(first), cells.begin() + static_cast<std::ptrdiff_t>(last)};
}

// The column where cell `index` of the first line of a printed chronogram ends.
std::size_t column_of(const std::string& printed, std::size_t index) {
  std::size_t at = printed.find('|') + 1;
  for (std::size_t i = 0; i <= index && at < printed.size() && printed[at] != '\n'; ++i) {
    while (printed[at] == ' ') ++at;
    while (at < printed.size() && printed[at] != ' ' && printed[at] != '\n') ++at;
  }
  return at - 1;
}

}  // namespace

bool same_cell(const Cell& expected, const Cell& actual, double tolerance) {
  if (expected.presence != actual.presence) return false;
  if (expected.presence != Presence::present) return true;
  const Tensor &a = expected.value, &b = actual.value;
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == DType::f32) return all_near<float>(a, b, tolerance);
  if (a.dtype() == DType::f64) return all_near<double>(a, b, tolerance);
  return a == b;
}

std::string difference(const Chronogram& expected, const Chronogram& actual, double tolerance) {
  std::optional<std::size_t> first;
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < std::min(expected.size(), actual.size()); ++r) {
    const auto at = first_difference(expected[r], actual[r], tolerance);
    if (!at) continue;
    rows.push_back(r);
    first = std::min(first.value_or(*at), *at);
  }
  if (!first) return expected.size() == actual.size() ? "" : "the number of outputs differs\n";
  const std::size_t begin = *first > cycles_before ? *first - cycles_before : 0;
  const std::size_t count = *first - begin + cycles_after;
  std::string text;
  for (const std::size_t r : rows) {
    const Chronogram pair{{"expected " + expected[r].name, window(expected[r].cells, begin, count)},
                          {"actual   " + actual[r].name, window(actual[r].cells, begin, count)}};
    const std::string printed = print_chronogram(pair);
    text += printed;
    if (r == rows.front())
      text += std::string(column_of(printed, *first - begin), ' ') + "^ cycle " + std::to_string(*first) + "\n";
  }
  return text;
}

}  // namespace rml
