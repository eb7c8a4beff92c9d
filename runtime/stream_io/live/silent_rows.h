// Cycles in which no row of a live input came: `?timeout=5s&silent=NAME`, and `?silent=NAME` beside timers.
//
// The source waits for a row until a deadline: the end of the period, which begins with the last row or with the last
// such cycle, or the next tick of a timer. If no row has come by then, the Boolean input NAME is true in this cycle,
// and the inputs of the source are absent. Flags that --missing absent derives say so.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/stream_io/bytes/waiting.h"
#include "runtime/stream_io/live/timer_rows.h"
#include "runtime/stream_io/row.h"
#include "runtime/stream_io/row_source.h"

namespace rml::rt {

struct Silent {
  std::uint32_t port = 0;                     // a Boolean scalar that is present at every cycle
  std::chrono::nanoseconds timeout{0};        // 0: the timers set the deadline
  std::vector<std::shared_ptr<Ticks>> ticks;  // of the timers
  Ports ports;                                // inputs that the source fills
};

// deadline: the one at which the source stops waiting.
std::unique_ptr<RowSource> silent_rows(std::unique_ptr<RowSource> source, Row& row, Silent silent,
                                       std::unique_ptr<Deadline> deadline);

}  // namespace rml::rt
