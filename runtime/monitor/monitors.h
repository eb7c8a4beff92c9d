// What --log, --plot and --watch see of a run: every row that comes out, and the run's beginning and end.
//
// Curves are saved with the state, so the picture of a run that was gone on with shows all of it.
#pragma once

#include <deque>
#include <optional>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/monitor/event_log.h"
#include "runtime/monitor/series.h"
#include "runtime/monitor/watch_log.h"
#include "runtime/options/options.h"

namespace rml::rt {

class Monitors {
 public:
  Monitors(const rml_program& program, const Options& options, const Row& outputs);

  // The first row to come is that of this cycle. saved: what the run goes on from, if it does.
  void begin(std::int64_t cycle, const CheckpointIn* saved);
  void row(std::int64_t cycle);
  bool any() const { return !series_.empty() || log_ || watch_; }
  void flush();
  // The picture so far.
  void draw() const;
  void close();
  // The curves so far, for a checkpoint; they point into what this object keeps until the next call.
  std::vector<TensorOut> tensors();

 private:
  const rml_program& program_;
  const Options& options_;
  const Row& outputs_;
  std::vector<std::uint32_t> plotted_;
  std::vector<Series> series_;
  std::deque<std::vector<double>> kept_;
  std::optional<EventLog> log_;
  std::optional<WatchLog> watch_;
  bool closed_ = false;
};

}  // namespace rml::rt
