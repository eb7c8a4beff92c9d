// --log: scalar outputs as a TensorBoard event file.
//
// The file is a sequence of records (length, checksum, an Event message, checksum). Few messages are
// needed, so they are encoded here: an Event's wall time, step and either the file's version, the
// start of a session, or one scalar. A run that goes on begins with a session's start at its cycle,
// from which TensorBoard knows to drop what an earlier file has beyond.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/stream_io/byte_sink.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {

// Makes the folder if it is not there. Throws Failure if it cannot be, or if nothing can be written there.
void make_log_folder(const std::string& folder);

class EventLog {
 public:
  // The folder is there.
  EventLog(const std::string& folder, const Row& outputs, std::vector<std::uint32_t> ports, std::int64_t first_step);
  // The values of the row that are present.
  void row(std::int64_t step);
  void flush() { bytes_.flush(); }
  void close() { bytes_.close(); }

 private:
  void event(std::string_view content, std::int64_t step);

  const Row& outputs_;
  std::vector<std::uint32_t> ports_;
  ByteSink bytes_;
  double flushed_ = 0;  // wall time
};

// CRC-32C of bytes, as records mask it.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace rml::rt
