// A legend of few curves is a line above the axes. Otherwise it is a list to their right, if there is
// room.
#include "runtime/monitor/panel.h"

#include <algorithm>
#include <cmath>

#include "runtime/monitor/svg_text.h"

namespace rml::rt {
namespace {

constexpr double left = 84, right = 28, top = 18, bottom = 58;
constexpr double row = 20, sample = 26, padding = 10, letter = 7.4;  // of a legend
constexpr std::size_t longest_name = 40;                             // characters of a name in a legend
constexpr std::size_t most_above = 4;                                // entries of a legend above the axes

std::string point(char command, double x, double y) { return command + number(x) + " " + number(y); }

// Extends a range at one of its ends, on the scale of the axis.
double edge(Range range, bool logarithmic, double part) {
  if (!logarithmic) return range.low + part * (range.high - range.low);
  return std::exp(std::log(range.low) + part * (std::log(range.high) - std::log(range.low)));
}

std::string value_text(const Curve& curve) {
  std::string value = short_number(curve.series->closing());
  if (curve.series->not_finite() > 0) value += " (" + std::to_string(curve.series->not_finite()) + " not finite)";
  if (curve.hidden) value += " (values ≤ 0 not shown)";
  return value;
}

std::string dashed(const Stroke& stroke) {
  const std::string dashes = stroke.dashes;
  return dashes.empty() ? "" : " stroke-dasharray=\"" + dashes + "\"";
}

}  // namespace

Panel::Panel(std::vector<Curve> curves, std::vector<Stroke> strokes, bool logarithmic, Range cycles, Box outer)
    : curves_(std::move(curves)),
      strokes_(std::move(strokes)),
      outer_(outer),
      x_(cycles.low, cycles.high, false, std::clamp(static_cast<int>(outer.width / 110), 2, 12), 1),
      y_(edge(visible(curves_, logarithmic), logarithmic, -0.05),
         edge(visible(curves_, logarithmic), logarithmic, 1.05), logarithmic,
         std::clamp(static_cast<int>(outer.height / 65), 2, 10)) {
  const double inner = std::max(outer.width - left - right, 40.0);
  for (const Curve& curve : curves_) {
    Entry entry{curve.label, value_text(curve)};
    const auto room = static_cast<std::size_t>(inner / letter), used = letters(entry.value) + 9;
    entry.name = shortened(entry.name, std::clamp<std::size_t>(room > used ? room - used : 0, 4, longest_name));
    entry.width = sample + 3 * padding + letter * static_cast<double>(letters(entry.name) + letters(entry.value));
    entries_.push_back(std::move(entry));
  }
  double widest = 0;
  for (const Entry& entry : entries_) widest = std::max(widest, entry.width);
  const bool beside = entries_.size() > most_above && widest < 0.4 * outer.width;
  const double taken_right = beside ? legend_beside() : 0, taken_above = beside ? 0 : legend_above(inner);
  plot_ = {outer.x + left, outer.y + top + taken_above, inner - taken_right,
           std::max(outer.height - top - bottom - taken_above, 40.0)};
}

double Panel::legend_beside() {
  double widest = 0;
  for (const Entry& entry : entries_) widest = std::max(widest, entry.width);
  const double step = std::min(row, (outer_.height - top - padding) / static_cast<double>(entries_.size()));
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    entries_[k].x = outer_.x + outer_.width - right - widest + padding;
    entries_[k].y = outer_.y + top + step * (static_cast<double>(k) + 0.5);
  }
  return widest + padding;
}

// Entries that have no room in two fifths of the height are left out.
double Panel::legend_above(double width) {
  double x = 0, y = 0;
  std::size_t shown = 0;
  for (Entry& entry : entries_) {
    if (x > 0 && x + entry.width > width) x = 0, y += row;
    if (y > 0 && y + row > 0.4 * outer_.height) break;
    entry.x = outer_.x + left + x;
    entry.y = outer_.y + top - 4 + y;
    x += entry.width + padding;
    ++shown;
  }
  entries_.resize(shown);
  return y + padding;
}

// A twentieth of the height is left free above and below. Without any value to show, there is an axis nevertheless.
Range Panel::visible(const std::vector<Curve>& curves, bool logarithmic) {
  Range range{HUGE_VAL, -HUGE_VAL};
  for (const Curve& curve : curves)
    if (!curve.empty()) range = range.joined(curve.range);
  return range.low <= range.high ? range : logarithmic ? Range{1, 10} : Range{0, 1};
}

// The position is limited, since renderers lose precision far outside.
double Panel::y(double value) const { return plot_.y + (1 - std::clamp(y_.place(value), -1.0, 2.0)) * plot_.height; }

std::string Panel::svg(std::size_t index, bool named) const {
  const std::string clip = "clip" + std::to_string(index);
  std::string text = "<clipPath id=\"" + clip + "\"><rect" + attribute("x", plot_.x) + attribute("y", plot_.y) +
                     attribute("width", plot_.width) + attribute("height", plot_.height) + "/></clipPath>\n";
  text += grid() + "<g clip-path=\"url(#" + clip + ")\">\n";
  for (std::size_t k = 0; k < curves_.size(); ++k) text += band(k);
  for (std::size_t k = 0; k < curves_.size(); ++k) text += line(k);
  return text + "</g>\n" + legend() + names(named);
}

std::string Panel::names(bool named) const {
  std::string name;
  std::vector<std::string> seen;
  for (const Curve& curve : curves_) {
    if (std::find(seen.begin(), seen.end(), curve.series->name()) != seen.end()) continue;
    seen.push_back(curve.series->name());
    name += (name.empty() ? "" : ", ") + seen.back();
  }
  if (y_.logarithmic()) name += " (logarithmic)";
  std::string text;
  // Where the names of all curves are too long for the axis, the legend alone has them.
  if (const auto length = static_cast<double>(letters(name)) * letter; length <= plot_.height || seen.size() == 1)
    text += "<text class=\"axis\" text-anchor=\"middle\" transform=\"translate(" + number(outer_.x + 22) + " " +
            number(plot_.y + plot_.height / 2) + ") rotate(-90)\">" +
            escaped(shortened(name, std::max<std::size_t>(static_cast<std::size_t>(plot_.height / letter), 4))) +
            "</text>\n";
  if (named)
    text += "<text class=\"axis\" text-anchor=\"middle\"" + attribute("x", plot_.x + plot_.width / 2) +
            attribute("y", plot_.y + plot_.height + 44) + ">cycle</text>\n";
  return text;
}

std::string Panel::grid() const {
  std::string text;
  for (const Axis::Tick& tick : y_.ticks()) {
    const double at = plot_.y + (1 - tick.at) * plot_.height;
    text += std::string("<line class=\"") + (tick.label.empty() ? "minor" : "grid") + "\"" + attribute("x1", plot_.x) +
            attribute("x2", plot_.x + plot_.width) + attribute("y1", at) + attribute("y2", at) + "/>\n";
    if (!tick.label.empty())
      text += "<text class=\"tick\" text-anchor=\"end\"" + attribute("x", plot_.x - 9) + attribute("y", at + 4) + ">" +
              tick.label + "</text>\n";
  }
  for (const Axis::Tick& tick : x_.ticks()) {
    const double at = plot_.x + tick.at * plot_.width;
    text += "<line class=\"grid\"" + attribute("x1", at) + attribute("x2", at) + attribute("y1", plot_.y) +
            attribute("y2", plot_.y + plot_.height + 5) + "/>\n<text class=\"tick\" text-anchor=\"middle\"" +
            attribute("x", at) + attribute("y", plot_.y + plot_.height + 21) + ">" + tick.label + "</text>\n";
  }
  return text + "<path class=\"frame\" d=\"M" + number(plot_.x) + " " + number(plot_.y) + "V" +
         number(plot_.y + plot_.height) + "H" + number(plot_.x + plot_.width) + "\"/>\n";
}

// A single point is a line of no length, which has round ends.
std::string Panel::path(const Points& points) const {
  std::string text;
  for (const Point& p : points) text += point(text.empty() ? 'M' : 'L', x(p.cycle), y(p.value));
  return points.size() == 1 ? text + "h0" : text;
}

// For a noisy curve, the area that most values are in, and the means as a thin line.
std::string Panel::band(std::size_t k) const {
  const Curve& curve = curves_[k];
  const std::string colour = strokes_[k].colour;
  std::string text, means;
  for (std::size_t p = 0; p < curve.smooth.size(); ++p) {
    const Points& points = curve.values[p];
    const std::vector<Smooth>& smooth = curve.smooth[p];
    std::string area;
    for (std::size_t i = 0; i < points.size(); ++i)
      area += point(i == 0 ? 'M' : 'L', x(points[i].cycle), y(smooth[i].high));
    for (std::size_t i = points.size(); i-- > 0;) area += point('L', x(points[i].cycle), y(smooth[i].low));
    text += "<path fill=\"" + colour + "\" fill-opacity=\"0.12\" d=\"" + area + "Z\"/>\n";
    means += path(points);
  }
  if (means.empty()) return "";
  return text + "<path fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"1\" stroke-opacity=\"0.28\" d=\"" +
         means + "\"/>\n";
}

std::string Panel::line(std::size_t k) const {
  const Curve& curve = curves_[k];
  const std::string colour = strokes_[k].colour;
  if (curve.points() == 1) {
    const Point only = curve.values[0][0];
    return "<circle r=\"4\" fill=\"" + colour + "\"" + attribute("cx", x(only.cycle)) + attribute("cy", y(only.value)) +
           "/>\n";
  }
  std::string d;
  for (std::size_t p = 0; p < curve.values.size(); ++p) {
    Points points = curve.values[p];
    for (std::size_t i = 0; curve.is_noisy() && i < points.size(); ++i) points[i].value = curve.smooth[p][i].line;
    d += path(points);
  }
  return d.empty() ? d
                   : "<path class=\"line\" stroke=\"" + colour + "\"" + dashed(strokes_[k]) + " d=\"" + d + "\"/>\n";
}

std::string Panel::legend() const {
  std::string text;
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    const Entry& entry = entries_[k];
    const std::string colour = strokes_[k].colour;
    if (curves_[k].is_noisy())
      text += "<rect fill=\"" + colour + "\" fill-opacity=\"0.18\" height=\"10\"" + attribute("x", entry.x) +
              attribute("y", entry.y - 5) + attribute("width", sample) + "/>\n";
    text += "<line stroke=\"" + colour + "\" stroke-width=\"2.2\"" + dashed(strokes_[k]) + attribute("x1", entry.x) +
            attribute("x2", entry.x + sample) + attribute("y1", entry.y) + attribute("y2", entry.y) +
            "/>\n<text class=\"name\"" + attribute("x", entry.x + padding + sample) + attribute("y", entry.y + 4.5) +
            ">" + escaped(entry.name) + "<tspan class=\"value\" dx=\"9\">" + escaped(entry.value) + "</tspan></text>\n";
  }
  return text;
}

}  // namespace rml::rt
