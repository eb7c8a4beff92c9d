// Serves the figures of a run as OpenMetrics text over HTTP, for Prometheus and other collectors.
//
// The server listens on the loopback address or on a Unix socket, because it asks no client who it
// is. One client is answered at a time, and has a second for its request and its answer.
#pragma once

#include <memory>
#include <string>

#include "runtime/run/live_figures.h"
#include "runtime/stream_io/live/peers.h"

namespace rml::rt {

class MetricsServer {
 public:
  // Listens at the argument of --metrics: [HOST]:PORT, tcp-listen://[HOST]:PORT or unix-listen://PATH.
  // Throws Failure if it cannot, or if other machines could connect.
  explicit MetricsServer(const std::string& argument);
  // Becomes readable when a client connects.
  int fd() const { return clients_->listener(); }
  // Answers a client. Ends early when `stop` becomes readable.
  void serve(const LiveFigures& figures, int stop);

 private:
  const std::unique_ptr<Peers> clients_;
  const std::string started_;  // the time when the run began, in seconds since 1970
};

// The text that a client receives, without the lines of HTTP.
std::string open_metrics(const LiveFigures& figures, const std::string& started);

}  // namespace rml::rt
