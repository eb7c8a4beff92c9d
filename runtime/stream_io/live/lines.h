// Rows as lines through a socket or a named pipe.
//
// Every connection is a stream of its own: where the format has a header (CSV) it begins with it, and it
// ends with a whole line. From a peer that goes in the middle of a row that row does not exist; to
// a peer that takes over, the row that was under way is sent again from its beginning.
#pragma once

#include <memory>

#include "runtime/stream_io/live/address.h"
#include "runtime/stream_io/live/byte_stream.h"

namespace rml::rt {

// Connects at once where the address is that of somebody who listens; else with the first byte.
std::unique_ptr<ByteInput> read_lines(const Address& address, bool headed);
std::unique_ptr<ByteOutput> write_lines(const Address& address, bool headed);

}  // namespace rml::rt
