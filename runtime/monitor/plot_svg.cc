// Outliers do not determine the scale: it covers the smooth line and all means except the most
// extreme ones. Values outside are cut at the edge of the panel.
#include "runtime/monitor/plot_svg.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "runtime/monitor/axis.h"

namespace rml::rt {
namespace {

constexpr double width = 900, panel_height = 400, left = 84, right = 28, top = 18, bottom = 58, title_height = 52;
constexpr double plot_width = width - left - right, plot_height = panel_height - top - bottom;
constexpr const char* colours[] = {"#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed", "#0891b2"};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}
std::string attribute(const char* name, double value) { return std::string(" ") + name + "=\"" + number(value) + "\""; }

struct Range {
  double low = 0, high = 0;
};

struct Curve {
  const Series* series = nullptr;
  const char* colour = nullptr;
  std::vector<double> smooth;  // by bucket
  Range range;                 // the range of values that must be visible
};

// A weighted mean of neighbouring buckets, by distance and count.
std::vector<double> smoothed(const std::vector<Bucket>& buckets, bool logarithmic) {
  const auto n = static_cast<std::ptrdiff_t>(buckets.size());
  const std::ptrdiff_t reach = n < 20 ? 0 : std::max<std::ptrdiff_t>(n / 30, 2);
  std::vector<double> line;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    double sum = 0, weights = 0;
    // At the steep start of a curve, the window extends as little to the right as to the left.
    const std::ptrdiff_t here = std::min(reach, i);
    for (std::ptrdiff_t k = i - here; k <= std::min(i + here, n - 1); ++k) {
      const Bucket& b = buckets[static_cast<std::size_t>(k)];
      const double weight = static_cast<double>(here + 1 - std::abs(k - i)) * b.count;
      sum += weight * (logarithmic ? std::log(b.mean()) : b.mean());
      weights += weight;
    }
    line.push_back(logarithmic ? std::exp(sum / weights) : sum / weights);
  }
  return line;
}

Range seen(const std::vector<Bucket>& buckets, const std::vector<double>& smooth) {
  std::vector<double> means;
  for (const Bucket& b : buckets) means.push_back(b.mean());
  std::sort(means.begin(), means.end());
  const std::size_t extreme = means.size() / 200;
  Range range{means[extreme], means[means.size() - 1 - extreme]};
  for (const double y : smooth) {
    range.low = std::min(range.low, y);
    range.high = std::max(range.high, y);
  }
  return range;
}

bool spans_magnitudes(const std::vector<Bucket>& buckets) {
  const auto by_mean = [](const Bucket& a, const Bucket& b) { return a.mean() < b.mean(); };
  const auto [low, high] = std::minmax_element(buckets.begin(), buckets.end(), by_mean);
  const bool positive = std::all_of(buckets.begin(), buckets.end(), [](const Bucket& b) { return b.least > 0; });
  return positive && high->mean() > 50 * low->mean();
}

// Compares the ranges as they will be drawn.
bool same_size(Range a, Range b, bool logarithmic) {
  if (logarithmic) {
    a = {std::log(a.low), std::log(a.high)};
    b = {std::log(b.low), std::log(b.high)};
  }
  const double wide = a.high - a.low, other = b.high - b.low;
  const bool overlap = a.low <= b.high && b.low <= a.high;
  return overlap && wide <= 5 * other && other <= 5 * wide;
}

class Panel {
 public:
  Panel(std::vector<Curve> curves, bool logarithmic, Range cycles, double y)
      : curves_(std::move(curves)),
        x_(cycles.low, cycles.high, false, 8),
        y_(low(logarithmic), high(logarithmic), logarithmic, 6),
        top_(y + top) {}

  std::string svg(std::size_t index, bool last) const {
    const std::string clip = "clip" + std::to_string(index);
    std::string text = "<clipPath id=\"" + clip + "\"><rect" + attribute("x", left) + attribute("y", top_) +
                       attribute("width", plot_width) + attribute("height", plot_height) + "/></clipPath>\n";
    text += grid() + "<g clip-path=\"url(#" + clip + ")\">\n";
    for (const Curve& curve : curves_) text += band(curve);
    for (const Curve& curve : curves_) text += line(curve);
    text += "</g>\n" + legend();
    const std::string name = curves_.size() == 1 ? curves_[0].series->name() : "";
    const double middle = top_ + plot_height / 2;
    if (!name.empty()) {
      text += "<text class=\"axis\" text-anchor=\"middle\" transform=\"translate(22 " + number(middle) +
              ") rotate(-90)\">" + escaped(name) + (y_.logarithmic() ? " (logarithmic)" : "") + "</text>\n";
    }
    if (last) {
      text += "<text class=\"axis\" text-anchor=\"middle\"" + attribute("x", left + plot_width / 2) +
              attribute("y", top_ + plot_height + 44) + ">cycle</text>\n";
    }
    return text;
  }

 private:
  // A twentieth of the height is left free above and below.
  double low(bool logarithmic) const { return edge(logarithmic, -0.05); }
  double high(bool logarithmic) const { return edge(logarithmic, 1.05); }
  double edge(bool logarithmic, double part) const {
    double low = curves_[0].range.low, high = curves_[0].range.high;
    for (const Curve& curve : curves_) {
      low = std::min(low, curve.range.low);
      high = std::max(high, curve.range.high);
    }
    if (logarithmic) return std::exp(std::log(low) + part * (std::log(high) - std::log(low)));
    return low + part * (high - low);
  }

  double x(double cycle) const { return left + x_.place(cycle) * plot_width; }
  // The position is limited, since renderers lose precision far outside.
  double y(double value) const { return top_ + (1 - std::clamp(y_.place(value), -1.0, 2.0)) * plot_height; }

  std::string grid() const {
    std::string text;
    for (const Axis::Tick& tick : y_.ticks()) {
      const double at = top_ + (1 - tick.at) * plot_height;
      text += std::string("<line class=\"") + (tick.label.empty() ? "minor" : "grid") + "\"" + attribute("x1", left) +
              attribute("x2", left + plot_width) + attribute("y1", at) + attribute("y2", at) + "/>\n";
      if (!tick.label.empty())
        text += "<text class=\"tick\" text-anchor=\"end\"" + attribute("x", left - 9) + attribute("y", at + 4) + ">" +
                tick.label + "</text>\n";
    }
    for (const Axis::Tick& tick : x_.ticks()) {
      const double at = left + tick.at * plot_width;
      text += "<line class=\"grid\"" + attribute("x1", at) + attribute("x2", at) + attribute("y1", top_) +
              attribute("y2", top_ + plot_height + 5) + "/>\n<text class=\"tick\" text-anchor=\"middle\"" +
              attribute("x", at) + attribute("y", top_ + plot_height + 21) + ">" + tick.label + "</text>\n";
    }
    text += "<path class=\"frame\" d=\"M" + number(left) + " " + number(top_) + "V" + number(top_ + plot_height) + "H" +
            number(left + plot_width) + "\"/>\n";
    return text;
  }

  static std::string point(char command, double x, double y) { return command + number(x) + " " + number(y); }

  // The area from the least to the largest value, and the means as a thin line.
  std::string band(const Curve& curve) const {
    const std::vector<Bucket>& buckets = curve.series->buckets();
    std::string edge, means;
    for (const Bucket& b : buckets) edge += point(edge.empty() ? 'M' : 'L', x(b.middle()), y(b.most));
    for (auto b = buckets.rbegin(); b != buckets.rend(); ++b) edge += point('L', x(b->middle()), y(b->least));
    for (const Bucket& b : buckets) means += point(means.empty() ? 'M' : 'L', x(b.middle()), y(b.mean()));
    const std::string colour = curve.colour;
    const std::string thin = "<path fill=\"none\" stroke=\"" + colour +
                             "\" stroke-width=\"1\" stroke-opacity=\"0.28\" d=\"" + means + "\"/>\n";
    return "<path fill=\"" + colour + "\" fill-opacity=\"0.09\" d=\"" + edge + "Z\"/>\n" + thin;
  }

  std::string line(const Curve& curve) const {
    const std::vector<Bucket>& buckets = curve.series->buckets();
    if (buckets.size() == 1) {
      return std::string("<circle r=\"4\" fill=\"") + curve.colour + "\"" + attribute("cx", x(buckets[0].middle())) +
             attribute("cy", y(curve.smooth[0])) + "/>\n";
    }
    std::string path;
    for (std::size_t k = 0; k < buckets.size(); ++k)
      path += point(path.empty() ? 'M' : 'L', x(buckets[k].middle()), y(curve.smooth[k]));
    return std::string("<path class=\"line\" stroke=\"") + curve.colour + "\" d=\"" + path + "\"/>\n";
  }

  struct Box {
    double x, y, width, height;
    bool holds(double px, double py) const { return px >= x && px <= x + width && py >= y && py <= y + height; }
  };

  // The position, at a side and at the top, bottom or middle, at which the legend covers least of
  // the curves.
  Box legend_box(double box_width, double box_height) const {
    constexpr double gap = 12;
    const double right_x = left + plot_width - box_width - gap, low_y = top_ + plot_height - box_height - gap;
    const double middle_y = top_ + (plot_height - box_height) / 2;
    const Box places[] = {{right_x, top_ + gap, box_width, box_height}, {left + gap, top_ + gap, box_width, box_height},
                          {right_x, low_y, box_width, box_height},      {left + gap, low_y, box_width, box_height},
                          {right_x, middle_y, box_width, box_height},   {left + gap, middle_y, box_width, box_height}};
    const auto hidden = [&](const Box& box) {
      std::size_t count = 0;
      for (const Curve& curve : curves_) {
        for (std::size_t k = 0; k < curve.smooth.size(); ++k) {
          const Bucket& b = curve.series->buckets()[k];
          count += box.holds(x(b.middle()), y(curve.smooth[k])) ? 8 : 0;
          count += box.holds(x(b.middle()), y(b.mean())) ? 1 : 0;
        }
      }
      return count;
    };
    return *std::min_element(std::begin(places), std::end(places),
                             [&](const Box& a, const Box& b) { return hidden(a) < hidden(b); });
  }

  std::string legend() const {
    constexpr double row = 20, sample = 26, padding = 10, letter = 7.4;
    std::size_t longest = 0;
    std::vector<std::string> values;
    for (const Curve& curve : curves_) {
      std::string& value = values.emplace_back(short_number(curve.smooth.back()));
      if (curve.series->not_finite() > 0) value += " (" + std::to_string(curve.series->not_finite()) + " not finite)";
      longest = std::max(longest, curve.series->name().size() + 2 + value.size());
    }
    const Box box = legend_box(3 * padding + sample + letter * static_cast<double>(longest),
                               row * static_cast<double>(values.size()) + padding);
    std::string text = "<rect class=\"legend\" rx=\"4\"" + attribute("x", box.x) + attribute("y", box.y) +
                       attribute("width", box.width) + attribute("height", box.height) + "/>\n";
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double at = box.y + padding / 2 + row * (static_cast<double>(k) + 0.5), x0 = box.x + padding;
      const std::string colour = curves_[k].colour;
      text += "<rect fill=\"" + colour + "\" fill-opacity=\"0.18\" height=\"10\"" + attribute("x", x0) +
              attribute("y", at - 5) + attribute("width", sample) + "/>\n<line stroke=\"" + colour +
              "\" stroke-width=\"2.2\"" + attribute("x1", x0) + attribute("x2", x0 + sample) + attribute("y1", at) +
              attribute("y2", at) + "/>\n<text class=\"name\"" + attribute("x", x0 + padding + sample) +
              attribute("y", at + 4.5) + ">" + escaped(curves_[k].series->name()) + "<tspan class=\"value\" dx=\"9\">" +
              escaped(values[k]) + "</tspan></text>\n";
    }
    return text;
  }

  std::vector<Curve> curves_;
  Axis x_, y_;
  double top_;
};

constexpr const char* style =
    "<style>text{font-family:system-ui,'Helvetica Neue',Arial,sans-serif;fill:#1f2937}"
    ".title{font-size:18px;font-weight:600}.axis{font-size:14px;fill:#4b5563}.tick{font-size:12px;fill:#4b5563}"
    ".name{font-size:13px}.value{fill:#6b7280}.grid{stroke:#e5e7eb}.minor{stroke:#f3f4f6}.frame{fill:none;stroke:#"
    "9ca3af}"
    ".line{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}"
    ".legend{fill:#ffffff;fill-opacity:0.85;stroke:#e5e7eb}</style>\n";

struct Group {
  std::vector<Curve> curves;
  bool logarithmic = false;
};

// Assigns curves to panels in order; a curve joins the first panel with its scale and size.
std::vector<Group> grouped(const std::vector<Series>& series) {
  std::vector<Group> groups;
  std::size_t colour = 0;
  for (const Series& s : series) {
    if (s.buckets().empty()) continue;
    const bool logarithmic = spans_magnitudes(s.buckets());
    Curve curve{&s, colours[colour++ % std::size(colours)], smoothed(s.buckets(), logarithmic), {}};
    curve.range = seen(s.buckets(), curve.smooth);
    const auto fits = [&](const Group& g) {
      return g.logarithmic == logarithmic && same_size(g.curves[0].range, curve.range, logarithmic);
    };
    const auto group = std::find_if(groups.begin(), groups.end(), fits);
    if (group == groups.end())
      groups.push_back({{std::move(curve)}, logarithmic});
    else
      group->curves.push_back(std::move(curve));
  }
  return groups;
}

}  // namespace

std::string plot_svg(const std::string& title, const std::vector<Series>& series) {
  const std::vector<Group> groups = grouped(series);
  const double height = title_height + panel_height * static_cast<double>(std::max<std::size_t>(groups.size(), 1));
  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(width) + " " + number(height) +
                     "\"" + attribute("width", width) + attribute("height", height) + ">\n" + style +
                     "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n<text class=\"title\"" +
                     attribute("x", left) + " y=\"34\">" + escaped(title) + "</text>\n";
  Range cycles{HUGE_VAL, -HUGE_VAL};
  for (const Group& group : groups) {
    for (const Curve& curve : group.curves) {
      cycles.low = std::min(cycles.low, curve.series->buckets().front().first);
      cycles.high = std::max(cycles.high, curve.series->buckets().back().last + 1);
    }
  }
  if (groups.empty()) {
    text += "<text class=\"axis\"" + attribute("x", left) + attribute("y", title_height + panel_height / 2) +
            ">no value was there to show</text>\n";
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Panel panel(groups[g].curves, groups[g].logarithmic, cycles,
                      title_height + panel_height * static_cast<double>(g));
    text += panel.svg(g, g + 1 == groups.size());
  }
  return text + "</svg>\n";
}

}  // namespace rml::rt
