// What endpoints need to know of peers.
#pragma once

#include <memory>

#include "runtime/stream_io/live/address.h"
#include "runtime/stream_io/live/byte_stream.h"
#include "runtime/stream_io/row_source.h"

namespace rml::rt {

// csv: rows are lines of CSV, else JSON lines.
std::unique_ptr<ByteInput> peer_input(const Address& address, bool csv);
std::unique_ptr<ByteOutput> peer_output(const Address& address, bool csv);

// What goes wrong with the peer is told with the cycle whose row was wanted.
std::unique_ptr<RowSource> with_cycles(std::unique_ptr<RowSource> source);

// Throws Failure with status 2 for two peers of a run that would be in each other's way.
void refuse_clash(const Address& one, const Address& other);

}  // namespace rml::rt
