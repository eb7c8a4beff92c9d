// Streams of rows as lines through a socket or a named pipe.
//
// Every connection is a stream of its own: it begins with a header if the format has one (CSV),
// and ends with a whole line. If a sender disconnects within a row, that row is dropped. If a
// receiver disconnects within a row, the next receiver gets that row from its beginning.
#pragma once

#include <memory>

#include "runtime/stream_io/address.h"
#include "runtime/stream_io/bytes/byte_stream.h"

namespace rml::rt {

// Connects immediately, unless the address listens; then it accepts a peer when the first byte is
// read.
std::unique_ptr<ByteInput> read_lines(const Address& address, bool headed);
std::unique_ptr<ByteOutput> write_lines(const Address& address, bool headed);

}  // namespace rml::rt
