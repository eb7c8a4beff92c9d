// timer://PERIOD: rows that come at fixed times, in which a Boolean input is true.
//
// The first row comes one period after the run begins to read. Times are multiples of the period from
// then on, so a late row delays none of the following ones. If the run is slower than the period,
// the ticks that have passed meanwhile are one row, and the others are counted as missed.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/stream_io/address.h"
#include "runtime/stream_io/bytes/byte_stream.h"
#include "runtime/stream_io/row.h"
#include "runtime/stream_io/row_source.h"

namespace rml::rt {

// port: a Boolean scalar that is present at every cycle.
std::unique_ptr<RowSource> timer_rows(const Address& address, Row& row, std::uint32_t port, Waiting waiting);

}  // namespace rml::rt
