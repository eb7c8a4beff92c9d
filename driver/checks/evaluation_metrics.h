// What `rmlc eval` can measure, and the equations that measure it: R(ML)² made of the library's nodes, so that a metric
// is compiled, and runs on every engine, as the program does.
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
// Nothing, and why not.
std::optional<WantedMetric> read_metric(const std::string& text, std::string& error);

struct EvaluationSpan {
  std::int64_t warm_up = 0;  // rows that are not counted
  std::int64_t window = 0;   // rows back that are; 0: all
};

// Names of all metrics, parted by commas.
std::string metric_names();

// E0904 where this metric is none of such values, or wants a window and there is none.
bool check_metric(const WantedMetric&, const Value& prediction, const Value& truth, const EvaluationSpan&,
                  Diagnostics&);

// The nodes `PREFIXaccuracy(p, t) -> (value: f64)` of these metrics and what they are made of, as source. The prefix
// begins no name of the program.
std::string metric_nodes(const std::vector<WantedMetric>&, const EvaluationSpan&, const std::string& prefix);

}  // namespace rml
