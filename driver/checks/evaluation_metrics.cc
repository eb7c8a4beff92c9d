// Composes metrics of three measures over the rows that count: the mean, the variance and the number of true values.
// `@` stands for the prefix of names. `settling` is true in the rows of the warm-up and restarts each measure.
#include "driver/checks/evaluation_metrics.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace rml {
namespace {

enum class Kind : std::uint8_t { equal, booleans, floats, probability, score };

struct Metric {
  const char* name;
  Kind kind;
  const char* equations;  // equations that define `value` from the prediction p and the truth t
  bool of_window = false;
};

constexpr const char* hits =
    "  hit = @count(settling, p and t);\n"
    "  wrong = @count(settling, p and not t);\n"
    "  missed = @count(settling, t and not p);\n";

constexpr std::array metrics = {
    Metric{"accuracy", Kind::equal, "  found = @mean(settling, mean(cast(f64, p == t)));\n"},
    Metric{"precision", Kind::booleans, "  found = @library.rate_of(hit, hit + wrong);\n"},
    Metric{"recall", Kind::booleans, "  found = @library.rate_of(hit, hit + missed);\n"},
    Metric{"f1", Kind::booleans, "  found = @library.rate_of(2 * hit, 2 * hit + wrong + missed);\n"},
    Metric{"auc", Kind::score, "  found = cast(f64, @library.auc_end(@window, settling, p, t));\n", true},
    Metric{"logloss", Kind::probability,
           "  likely = cast(f64, if t then p else 1.0 - p);\n"
           "  found = @mean(settling, -log(clip(likely, 1e-15, 1.0)));\n"},
    Metric{"mae", Kind::floats, "  found = @mean(settling, mean(abs(cast(f64, p) - cast(f64, t))));\n"},
    Metric{"mse", Kind::floats, "  found = @mean(settling, mean(square(cast(f64, p) - cast(f64, t))));\n"},
    Metric{"rmse", Kind::floats, "  found = sqrt(@mean(settling, mean(square(cast(f64, p) - cast(f64, t)))));\n"},
    Metric{"r2", Kind::floats,
           "  missed = @mean(settling, mean(square(cast(f64, p) - cast(f64, t))));\n"
           "  spread = mean(@variance(settling, cast(f64, t)));\n"
           "  found = if spread > 0.0 then 1.0 - missed / spread else nan;\n"},
};

constexpr const char* over_all =
    "node @mean(settling, x) -> (y)\n"
    "  y = @library.average_end(settling, x);\n"
    "node @variance(settling, x) -> (y)\n"
    "  _, y = @library.moments_end(settling, x);\n"
    "node @count(settling, x) -> (n)\n"
    "  n = @library.counted_end(settling, x);\n";

// The last rows, the newest first; `rows` of them exist. The mean is subtracted before squares are summed.
constexpr const char* over_window =
    "node @last(settling, x) -> (kept, rows)\n"
    "  kept = concat(expand_dims(x, 0), fby_end(settling, zeros([@window]), kept)[:@window - 1]);\n"
    "  seen: i64 = fby_end(settling, 0, minimum(seen, @window)) + 1;\n"
    "  rows = cast(f64, minimum(seen, @window));\n"
    "node @mean(settling, x) -> (y)\n"
    "  kept, rows = @last(settling, x);\n"
    "  y = sum(kept) / rows;\n"
    "node @variance(settling, x) -> (y)\n"
    "  kept, rows = @last(settling, x);\n"
    "  there, _ = @last(settling, 1.0);\n"
    "  y = dot(there, square(kept - sum(kept) / rows)) / rows;\n"
    "node @count(settling, x) -> (n)\n"
    "  kept, _ = @last(settling, cast(i64, x));\n"
    "  n = sum(kept);\n";

const Metric* find_metric(const std::string& name) {
  const auto found = std::ranges::find(metrics, name, &Metric::name);
  return found == metrics.end() ? nullptr : found;
}

bool is_name(const std::string& text) {
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 && std::ranges::all_of(text, letter);
}

// The kind of values that the metric needs, in words; empty if these values are of that kind.
std::string complaint(Kind kind, const Value& p, const Value& t) {
  const bool alike = p.dtype == t.dtype && p.shape == t.shape;
  const bool probable = has_gradient(p.dtype) && p.shape.empty() && t.dtype == DType::boolean && t.shape.empty();
  switch (kind) {
    case Kind::equal:
      return alike ? "" : "a prediction and a truth of one type";
    case Kind::booleans:
      return alike && p.dtype == DType::boolean && p.shape.empty() ? "" : "two Booleans";
    case Kind::floats:
      return alike && has_gradient(p.dtype) && p.shape.empty() ? "" : "two floats, f32 or f64";
    case Kind::probability:
      return probable ? "" : "the probability of `true`, a float, and a Boolean";
    default:
      return probable ? "" : "a score, a float, and a Boolean";
  }
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

}  // namespace

std::string metric_names() {
  std::string names;
  for (const Metric& m : metrics) names += (names.empty() ? "" : ", ") + std::string(m.name);
  return names;
}

std::optional<WantedMetric> read_metric(const std::string& text, std::string& error) {
  const auto equals = text.find('=');
  const auto first = text.find(':', equals == std::string::npos ? 0 : equals);
  const auto second = first == std::string::npos ? first : text.find(':', first + 1);
  if (second == std::string::npos) {
    error = "'" + text + "' does not have the form [COLUMN=]NAME:PREDICTION:TRUTH, for example accuracy:guess:label";
    return std::nullopt;
  }
  const std::size_t begin = equals == std::string::npos ? 0 : equals + 1;
  WantedMetric m{"", text.substr(begin, first - begin), text.substr(first + 1, second - first - 1),
                 text.substr(second + 1)};
  m.column = equals == std::string::npos ? m.name : text.substr(0, equals);
  if (find_metric(m.name) == nullptr) {
    error = "unknown metric '" + m.name + "'; the metrics are " + metric_names();
    return std::nullopt;
  }
  if (is_name(m.column)) return m;
  error = "'" + m.column + "' cannot be the name of a column";
  return std::nullopt;
}

bool check_metric(const WantedMetric& wanted, const Value& p, const Value& t, const EvaluationSpan& over,
                  Diagnostics& diagnostics) {
  const Metric& metric = *find_metric(wanted.name);
  if (const std::string takes = complaint(metric.kind, p, t); !takes.empty()) {
    auto& d = diagnostics.report(Code::E0904, p.span,
                                 "`" + wanted.name + "` takes " + takes + ", not " + type_string(p.dtype, p.shape) +
                                     " and " + type_string(t.dtype, t.shape),
                                 "the prediction `" + wanted.prediction + "`");
    d.label(t.span, "the truth `" + wanted.truth + "`");
    return false;
  }
  if (!metric.of_window || over.window > 0) return true;
  diagnostics.report(Code::E0904, {}, "`" + wanted.name + "` needs the number of rows that it measures")
      .note("give --window N; if N is at least the number of rows, it measures all rows so far");
  return false;
}

std::string metric_nodes(const std::vector<WantedMetric>& wanted, const EvaluationSpan& over,
                         const std::string& prefix) {
  std::string text = "import metrics as @library;\n";
  text += over.window > 0 ? over_window : over_all;
  std::vector<std::string> written;
  for (const WantedMetric& w : wanted) {
    if (std::ranges::find(written, w.name) != written.end()) continue;
    written.push_back(w.name);
    const Metric& metric = *find_metric(w.name);
    text += "node @" + w.name + "(p, t) -> (value: f64)\n";
    if (over.warm_up > 0)
      text += "  row: i64 = 1 fby minimum(row, " + std::to_string(over.warm_up) +
              ") + 1;\n  settling = row <= " + std::to_string(over.warm_up) +
              ";\n  value = if settling then nan else found;\n";
    else
      text += "  settling = false;\n  value = found;\n";
    if (metric.kind == Kind::booleans) text += hits;
    text += metric.equations;
  }
  replace_all(text, "@window", std::to_string(over.window));
  replace_all(text, "@", prefix);
  return text;
}

}  // namespace rml
