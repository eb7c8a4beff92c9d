// The metrics of `rmlc eval`, and the equations that compute them. The equations are R(ML)² over nodes of the library,
// so a metric is compiled together with the program and runs on every engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/diagnostic.h"
#include "semantics/core/core.h"

namespace rml {

// [COLUMN=]NAME:PREDICTION:TRUTH
struct WantedMetric {
  std::string column, name, prediction, truth;
};
// Returns nothing, and an error, if the text is not a metric.
std::optional<WantedMetric> read_metric(const std::string& text, std::string& error);

struct EvaluationSpan {
  std::int64_t warm_up = 0;  // number of rows at the beginning that do not count
  std::int64_t window = 0;   // number of latest rows that count; 0: all
};

// The names of all metrics, separated by commas.
std::string metric_names();

// Reports E0904 if this metric is not defined for such values, or needs a window and none is given.
bool check_metric(const WantedMetric&, const Value& prediction, const Value& truth, const EvaluationSpan&,
                  Diagnostics&);

// Source text with a node `PREFIXaccuracy(p, t) -> (value: f64)` for each of these metrics, and the nodes that it
// calls. No name of the program may begin with the prefix.
std::string metric_nodes(const std::vector<WantedMetric>&, const EvaluationSpan&, const std::string& prefix);

}  // namespace rml
