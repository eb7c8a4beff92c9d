// Writes scalar outputs as a TensorBoard event file (--log).
//
// The file is a sequence of records (length, checksum, an Event message, checksum). Only a few
// kinds of messages are needed, so they are encoded here: an Event has a wall time, a step, and
// either the version of the file, the start of a session, or one scalar. A resumed run starts
// with a session start at its cycle, so that TensorBoard drops later events of an earlier file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/stream_io/bytes/byte_sink.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {

// Creates the folder if it does not exist. Throws Failure if that fails, or if the folder is not
// writable.
void make_log_folder(const std::string& folder);

class EventLog {
 public:
  // Creates the log in a folder, which must exist.
  EventLog(const std::string& folder, const Row& outputs, std::vector<std::uint32_t> ports, std::int64_t first_step);
  // Writes the values of the row that are present.
  void row(std::int64_t step);
  void flush() { bytes_.flush(); }
  void close() { bytes_.close(); }

 private:
  void event(std::string_view content, std::int64_t step);

  const Row& outputs_;
  std::vector<std::uint32_t> ports_;
  ByteSink bytes_;
  double flushed_ = 0;  // wall time of the last flush, in seconds
};

// The masked CRC-32C that records contain.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace rml::rt
