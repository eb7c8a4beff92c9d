// Panels are below each other; many panels are in columns. If the size is given and has no room for
// all panels, the picture says how many it leaves out.
#include "runtime/monitor/plot_svg.h"

#include <algorithm>
#include <cmath>

#include "runtime/monitor/comparable.h"
#include "runtime/monitor/curve.h"
#include "runtime/monitor/panel.h"
#include "runtime/monitor/svg_text.h"

namespace rml::rt {
namespace {

constexpr const char* colours[] = {"#2563eb", "#dc2626", "#059669", "#d97706",
                                   "#7c3aed", "#0891b2", "#db2777", "#4d7c0f"};
constexpr const char* dashes[] = {"", "7 5", "2 5"};
constexpr double title_height = 52, margin = 84;
constexpr double least_width = 200, least_height = 140;  // of a panel
constexpr std::size_t most_panels = 60;

constexpr const char* style =
    "<style>text{font-family:system-ui,'Helvetica Neue',Arial,sans-serif;fill:#1f2937}"
    ".title{font-size:18px;font-weight:600}.axis{font-size:14px;fill:#4b5563}.tick{font-size:12px;fill:#4b5563}"
    ".name{font-size:13px}.value{fill:#6b7280}.grid{stroke:#e5e7eb}.minor{stroke:#f3f4f6}.frame{fill:none;stroke:#"
    "9ca3af}"
    ".line{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}</style>\n";

struct Layout {
  double width = 0, height = 0;  // of the picture
  std::size_t columns = 1, rows = 1;

  Box box(std::size_t panel) const {
    const double wide = width / static_cast<double>(columns);
    const double high = (height - title_height) / static_cast<double>(rows);
    return {wide * static_cast<double>(panel % columns), title_height + high * static_cast<double>(panel / columns),
            wide, high};
  }
};

std::size_t rows_for(std::size_t panels, std::size_t columns) { return (panels + columns - 1) / columns; }

Layout layout_by_count(std::size_t panels) {
  const std::size_t columns = panels <= 3 ? 1 : panels <= 8 ? 2 : 3, rows = rows_for(panels, columns);
  const double width = columns == 1 ? 900 : 600 * static_cast<double>(columns);
  const double panel = panels == 1 ? 400 : columns == 1 ? 320 : 280;
  return {width, title_height + panel * static_cast<double>(rows), columns, rows};
}

// The number of columns that makes the panels largest. A panel is better wider than high.
Layout layout_by_size(std::size_t panels, PlotAddress::Size size) {
  Layout best;
  double largest = 0;
  for (std::size_t columns = 1; columns <= panels; ++columns) {
    const Layout layout{static_cast<double>(size.width), static_cast<double>(size.height), columns,
                        rows_for(panels, columns)};
    const Box box = layout.box(0);
    const double measure = std::min(box.width / 1.8, box.height);
    if (measure <= largest) continue;
    largest = measure;
    best = layout;
  }
  return best;
}

// The number of panels that the picture has room for, at least one.
std::size_t count_shown(std::size_t panels, const PlotAddress& form) {
  panels = std::min(panels, most_panels);
  if (!form.size) return panels;
  for (; panels > 1; --panels) {
    const Box box = layout_by_size(panels, *form.size).box(0);
    if (box.width >= least_width && box.height >= least_height) break;
  }
  return panels;
}

// If a panel shows one output of several runs, a colour is a run. Otherwise it is an output, and
// runs differ by their dashes.
Stroke stroke(const CurvesOfPanel& panel, std::size_t k) {
  const CurvesOfPanel::Member& member = panel.members[k];
  const bool one_output = std::all_of(panel.members.begin(), panel.members.end(),
                                      [&](const auto& other) { return other.output == member.output; });
  const bool several_runs = std::any_of(panel.members.begin(), panel.members.end(),
                                        [&](const auto& other) { return other.run != member.run; });
  const std::size_t colour = one_output && several_runs ? member.run : member.output;
  const std::size_t dash = one_output || !several_runs ? colour / std::size(colours) : member.run;
  return {colours[colour % std::size(colours)], dashes[dash % std::size(dashes)]};
}

Range cycles_of(const std::vector<PlottedRun>& runs) {
  Range cycles{HUGE_VAL, -HUGE_VAL};
  for (const PlottedRun& run : runs)
    for (const Series& series : run.series)
      if (!series.buckets().empty())
        cycles = cycles.joined({series.buckets().front().first, series.buckets().back().last});
  if (cycles.high == cycles.low) return {cycles.low - 0.5, cycles.low + 0.5};
  return {cycles.low, cycles.high + 1};
}

std::string label(const Series& series, const PlottedRun& run) {
  return run.name.empty() ? series.name() : series.name() + " of " + run.name;
}

std::string head(const std::string& title, const Layout& layout) {
  const auto letters = static_cast<std::size_t>(std::max((layout.width - margin - 20) / 9.6, 8.0));
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(layout.width) + " " +
         number(layout.height) + "\"" + attribute("width", layout.width) + attribute("height", layout.height) + ">\n" +
         style + "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n<text class=\"title\"" +
         attribute("x", margin) + " y=\"34\">" + escaped(shortened(title, letters)) + "</text>\n";
}

std::string note(const Layout& layout, double y, const std::string& words) {
  const auto letters = static_cast<std::size_t>((layout.width - margin) / 7.6);
  return "<text class=\"axis\"" + attribute("x", margin) + attribute("y", y) + ">" +
         escaped(shortened(words, letters)) + "</text>\n";
}

// What the picture does not show; empty: it shows all.
std::string left_out(const std::vector<PlottedRun>& runs, std::size_t panels, const PlotAddress& form) {
  std::string names;
  for (const PlottedRun& run : runs)
    for (const Series& series : run.series)
      if (!series.any()) names += (names.empty() ? "no finite value: " : ", ") + label(series, run);
  if (panels == 0) return names;
  return std::to_string(panels) + " more panels have no room: choose outputs with --monitor" +
         (form.size ? ", or a larger size" : "") + (names.empty() ? "" : "; " + names);
}

}  // namespace

std::string plot_svg(const std::string& title, const std::vector<PlottedRun>& runs, const PlotAddress& form) {
  const std::vector<CurvesOfPanel> panels = comparable(runs, form.scale);
  const std::size_t shown = count_shown(panels.size(), form), places = std::max<std::size_t>(shown, 1);
  const Layout layout = form.size ? layout_by_size(places, *form.size) : layout_by_count(places);
  std::string text = head(title, layout);
  if (panels.empty()) text += note(layout, layout.height / 2, "no value was there to show");
  const Range cycles = cycles_of(runs);
  for (std::size_t p = 0; p < shown; ++p) {
    std::vector<Curve> curves;
    std::vector<Stroke> strokes;
    for (std::size_t k = 0; k < panels[p].members.size(); ++k) {
      const CurvesOfPanel::Member& member = panels[p].members[k];
      curves.push_back(curve_of(*member.series, label(*member.series, runs[member.run]), panels[p].logarithmic));
      strokes.push_back(stroke(panels[p], k));
    }
    const bool lowest = p + layout.columns >= shown;
    text += Panel(std::move(curves), std::move(strokes), panels[p].logarithmic, cycles, layout.box(p)).svg(p, lowest);
  }
  if (const std::string words = left_out(runs, panels.size() - shown, form); !words.empty())
    text += note(layout, title_height - 2, words);
  return text + "</svg>\n";
}

}  // namespace rml::rt
