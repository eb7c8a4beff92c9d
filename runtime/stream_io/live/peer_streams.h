// Opens streams of peers for endpoints.
#pragma once

#include <memory>

#include "runtime/stream_io/address.h"
#include "runtime/stream_io/bytes/byte_stream.h"
#include "runtime/stream_io/row_source.h"

namespace rml::rt {

// Opens an input from a peer. csv: rows are lines of CSV; otherwise they are JSON lines.
std::unique_ptr<ByteInput> peer_input(const Address& address, bool csv);
std::unique_ptr<ByteOutput> peer_output(const Address& address, bool csv);

// Adds the cycle of the requested row to errors of the peer.
std::unique_ptr<RowSource> with_cycles(std::unique_ptr<RowSource> source);

// Throws Failure with status 2 if two peers of one run conflict.
void refuse_clash(const Address& one, const Address& other);

}  // namespace rml::rt
