// The options with which a run reads its input several times and keeps the best state
// (docs/manual/training.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace rml::rt {

struct TrainingOptions {
  std::optional<std::int64_t> epochs;
  bool repeat = false;  // passes without end
  bool shuffle = false;
  std::vector<std::string> validate;  // as `inputs` of Options: F or NAME=F
  std::string metric;                 // an output; empty: not given
  std::string goal;                   // "least" or "most"; empty: not given
  std::optional<std::int64_t> patience;
  std::string segments_by;  // COLUMN or NAME=COLUMN; empty: not given
  std::string last;         // an input; empty: not given

  // The number of passes over the input; none: without end.
  std::optional<std::int64_t> passes() const {
    return repeat ? std::nullopt : std::optional<std::int64_t>(epochs.value_or(1));
  }
  // True if the run measures its epochs.
  bool measures() const { return !metric.empty() || !validate.empty(); }
  // The first option that reads the input in another way than once and in order; empty: none.
  std::string rereads() const;
};

void add_training_options(CLI::App& app, TrainingOptions& training, const std::string& group);
// Throws Failure with status 2 for options that need others or exclude each other.
void check_training_options(const TrainingOptions& training);

}  // namespace rml::rt
