// The thread sleeps until a line is due, a client connects, or the run ends.
#include "runtime/run/reporter.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "runtime/base/failure.h"

namespace rml::rt {

Reporter::Reporter(const LiveFigures& figures, std::chrono::nanoseconds every, std::unique_ptr<MetricsServer> server)
    : figures_(figures), every_(every), server_(std::move(server)), on_signal_(figures), periodic_(figures) {
  if (every_.count() > 0 || server_ != nullptr) {
    if (stop_.fd() < 0) throw Failure("--stats-every, --metrics: the system has no descriptor left for the thread");
    thread_ = start_thread([this] { work(); });
  }
  on_user_signal(this);
}

Reporter::~Reporter() {
  on_user_signal(nullptr);
  if (!thread_.joinable()) return;
  stop_.ring();
  thread_.join();
}

void Reporter::work() {
  using Clock = LiveFigures::Clock;
  const bool lines = every_.count() > 0;
  Clock::time_point next = Clock::now() + every_;
  while (true) {
    int wait = -1;
    if (lines) {
      constexpr std::int64_t hour = 3'600'000;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
      wait = static_cast<int>(std::clamp<std::int64_t>(left, 0, hour));
    }
    pollfd wanted[] = {{stop_.fd(), POLLIN, 0}, {server_ ? server_->fd() : -1, POLLIN, 0}};
    ::poll(wanted, 2, wait);
    if (wanted[0].revents != 0) return;
    if (wanted[1].revents != 0) server_->serve(figures_, stop_.fd());
    const Clock::time_point now = Clock::now();
    if (!lines || now < next) continue;
    periodic_.print();
    next = std::max(next + every_, now);
  }
}

std::unique_ptr<Reporter> start_reporter(const Options& options, const LiveFigures& figures) {
  if (!options.writes) return nullptr;
  std::unique_ptr<MetricsServer> server;
  if (!options.metrics.empty()) server = std::make_unique<MetricsServer>(options.metrics);
  return std::make_unique<Reporter>(figures, options.stats_every, std::move(server));
}

}  // namespace rml::rt
