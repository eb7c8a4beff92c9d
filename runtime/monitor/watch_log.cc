// Tensors with few elements are printed in full.
#include "runtime/monitor/watch_log.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "runtime/monitor/series.h"
#include "runtime/stream_io/scalar_text.h"
#include "runtime/stream_io/value_text.h"

namespace rml::rt {

namespace {
constexpr std::uint64_t shown_elements = 32;
}  // namespace

WatchLog::WatchLog(const Options& options, const Row& outputs) : outputs_(outputs), ports_(options.watched) {
  if (!options.watch_file.empty()) file_.emplace(ByteSink::open(options.watch_file, false));
}

std::string WatchLog::extremes(std::uint32_t i) const {
  const rml_port& port = outputs_.port(i);
  double low = INFINITY, high = -INFINITY;
  std::uint64_t odd = 0;
  for (std::uint64_t k = 0; k < port.elements; ++k) {
    const double x = scalar_value(outputs_, i, k);
    if (!std::isfinite(x)) {
      ++odd;
      continue;
    }
    low = std::min(low, x);
    high = std::max(high, x);
  }
  std::string text = type_text(port);
  if (odd < port.elements) text += ", from " + double_text(low) + " to " + double_text(high);
  if (odd > 0) text += ", " + std::to_string(odd) + " not finite";
  return text;
}

void WatchLog::row(std::int64_t cycle) {
  std::string text;
  for (const std::uint32_t i : ports_) {
    if (!outputs_.is_present(i)) continue;
    const rml_port& port = outputs_.port(i);
    text += "cycle " + std::to_string(cycle) + ": " + port.name + " = ";
    if (port.elements > shown_elements)
      text += extremes(i);
    else
      append_value(port, outputs_.data(i), text);
    text += "\n";
  }
  if (file_)
    file_->append(text);
  else
    std::fputs(text.c_str(), stderr);
}

void WatchLog::flush() {
  if (file_) file_->flush();
}

void WatchLog::close() {
  if (file_) file_->close();
}

}  // namespace rml::rt
