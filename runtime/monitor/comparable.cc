// A series joins the first panel that it fits, in the order of the outputs. It fits if a panel shows
// the same quantity. In a picture of one run it also fits if the panel still has room and its
// range, on the scale that both would share, is neither much larger nor much smaller.
#include "runtime/monitor/comparable.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

#include "runtime/monitor/curve.h"

namespace rml::rt {
namespace {

constexpr std::size_t most_together = 12;  // most curves of a panel, unless they show one quantity
constexpr double most_ratio = 5;           // of the heights of two curves in one panel

struct Seen {
  Range range;
  bool positive = false, wants_logarithm = false;
};

Seen seen(const Series& series) { return {rough_range(series), is_positive(series), wants_logarithm(series)}; }

struct Group {
  CurvesOfPanel panel;
  std::vector<Seen> seen;
  std::vector<std::string> quantities;
};

bool logarithmic(const std::vector<Seen>& all) {
  const bool positive = std::all_of(all.begin(), all.end(), [](const Seen& s) { return s.positive; });
  return positive && std::any_of(all.begin(), all.end(), [](const Seen& s) { return s.wants_logarithm; });
}

// Compares the ranges as they would be drawn. A constant fits where its value is in the range.
bool same_size(Range a, Range b, bool logarithmic) {
  if (logarithmic) {
    a = {std::log(a.low), std::log(a.high)};
    b = {std::log(b.low), std::log(b.high)};
  }
  if (a.high < b.low || b.high < a.low) return false;
  const double wide = a.high - a.low, other = b.high - b.low;
  if (wide == 0 || other == 0) return true;
  return wide <= most_ratio * other && other <= most_ratio * wide;
}

bool fits(const Group& group, const Seen& s, PlotAddress::Scale scale) {
  if (group.panel.members.size() >= most_together) return false;
  std::vector<Seen> all = group.seen;
  all.push_back(s);
  const bool positive = std::all_of(all.begin(), all.end(), [](const Seen& m) { return m.positive; });
  const bool log =
      scale == PlotAddress::Scale::automatic ? logarithmic(all) : scale == PlotAddress::Scale::logarithmic && positive;
  return std::all_of(group.seen.begin(), group.seen.end(),
                     [&](const Seen& member) { return same_size(member.range, s.range, log); });
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string measured_quantity(const std::string& name) {
  static const std::vector<std::string> roles = {"train",      "training",   "trained", "val",     "valid",
                                                 "validation", "test",       "testing", "tested",  "dev",
                                                 "eval",       "evaluation", "holdout", "heldout", "validated"};
  std::vector<std::string> words{""};
  for (const char c : name) {
    if (c == '_' || c == '.')
      words.emplace_back();
    else
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  std::string quantity;
  for (const std::string& word : words)
    if (!has(roles, word)) quantity += (quantity.empty() ? "" : ".") + word;
  return quantity;
}

std::vector<CurvesOfPanel> comparable(const std::vector<PlottedRun>& runs, PlotAddress::Scale scale) {
  std::vector<Group> groups;
  std::vector<std::string> outputs;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const Series& series : runs[r].series) {
      if (!has(outputs, series.name())) outputs.push_back(series.name());
      if (!series.any()) continue;
      const auto output =
          static_cast<std::size_t>(std::find(outputs.begin(), outputs.end(), series.name()) - outputs.begin());
      const Seen s = seen(series);
      const std::string quantity = measured_quantity(series.name());
      auto group =
          std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return has(g.quantities, quantity); });
      if (group == groups.end() && runs.size() == 1)
        group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return fits(g, s, scale); });
      if (group == groups.end()) group = groups.insert(groups.end(), Group{});
      group->panel.members.push_back({&series, r, output});
      group->seen.push_back(s);
      group->quantities.push_back(quantity);
    }
  }
  std::vector<CurvesOfPanel> panels;
  for (Group& group : groups) {
    const bool log =
        scale == PlotAddress::Scale::automatic ? logarithmic(group.seen) : scale == PlotAddress::Scale::logarithmic;
    group.panel.logarithmic = log;
    panels.push_back(std::move(group.panel));
  }
  return panels;
}

}  // namespace rml::rt
