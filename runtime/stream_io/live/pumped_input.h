// Reads a stream in a thread of its own, so that the reader can stop waiting at a deadline.
//
// A stream may wait anywhere: for a byte, for the next peer, for the name service, for a broker that does not answer.
// Such a wait cannot be left and continued later. So the thread waits, and the reader waits for the thread. The thread
// reads at most one block ahead; it is used only if the input has a deadline.
#pragma once

#include <memory>

#include "runtime/stream_io/bytes/byte_stream.h"

namespace rml::rt {

std::unique_ptr<ByteInput> pumped(std::unique_ptr<ByteInput> input);

}  // namespace rml::rt
