// Reports the figures of a run while it runs: as a line on standard error, periodically
// (--stats-every) and at SIGUSR1, and as OpenMetrics text to clients that connect (--metrics).
//
// One thread of its own does the periodic lines and serves the clients, so a run that computes or
// waits for a row is reported as well. Without the two options there is no thread: SIGUSR1 is
// answered by its handler.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "runtime/base/signals.h"
#include "runtime/options/options.h"
#include "runtime/pipeline/wake_up.h"
#include "runtime/run/live_figures.h"
#include "runtime/run/metrics.h"
#include "runtime/run/statistics_line.h"

namespace rml::rt {

class Reporter final : public UserSignal {
 public:
  // figures must outlive the reporter. every: zero for no periodic lines. server: null for no metrics.
  Reporter(const LiveFigures& figures, std::chrono::nanoseconds every, std::unique_ptr<MetricsServer> server);
  ~Reporter() override;
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  void signalled() noexcept override { on_signal_.print(); }

 private:
  void work();

  const LiveFigures& figures_;
  const std::chrono::nanoseconds every_;
  const std::unique_ptr<MetricsServer> server_;
  StatisticsLine on_signal_, periodic_;
  const WakeUp stop_;
  std::thread thread_;
};

// The reporter that the options request. A rank that writes nothing has none.
std::unique_ptr<Reporter> start_reporter(const Options& options, const LiveFigures& figures);

}  // namespace rml::rt
