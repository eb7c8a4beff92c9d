// The parts of a run that --log, --plot and --watch need: each row, and the beginning and end of
// the run.
//
// Curves are saved with the state, so the picture of a resumed run shows the whole run.
#pragma once

#include <deque>
#include <optional>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/monitor/event_log.h"
#include "runtime/monitor/plot_svg.h"
#include "runtime/monitor/series.h"
#include "runtime/monitor/watch_log.h"
#include "runtime/options/options.h"

namespace rml::rt {

class Monitors {
 public:
  Monitors(const rml_program& program, const Options& options, const Row& outputs);

  // cycle: number of the first row to come. saved: the state that the run resumes; null if it
  // does not.
  void begin(std::int64_t cycle, const CheckpointIn* saved);
  void row(std::int64_t cycle);
  bool any() const { return !series_.empty() || log_ || watch_; }
  void flush();
  // Draws the picture of the rows so far.
  void draw() const;
  void close();
  // The curves so far, for a checkpoint. They point into this object and are valid until the next
  // call.
  std::vector<TensorOut> tensors();

 private:
  const rml_program& program_;
  const Options& options_;
  const Row& outputs_;
  std::vector<std::uint32_t> plotted_;
  std::vector<Series> series_;
  std::vector<PlottedRun> earlier_;  // --plot-also
  std::deque<std::vector<double>> kept_;
  std::optional<EventLog> log_;
  std::optional<WatchLog> watch_;
  bool closed_ = false;
};

}  // namespace rml::rt
