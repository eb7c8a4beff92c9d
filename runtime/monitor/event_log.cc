// Field numbers are those of TensorFlow's event.proto and summary.proto:
//   Event: 1 wall_time (double), 2 step, 3 file_version, 5 summary, 7 session_log
//   Summary: 1 value; Value: 1 tag, 2 simple_value (float); SessionLog: 1 status (1: START)
#include "runtime/monitor/event_log.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "runtime/base/failure.h"
#include "runtime/checkpoint/whole_file.h"
#include "runtime/monitor/series.h"

namespace rml::rt {
namespace {

// The table of CRC-32C, whose polynomial is Castagnoli's in reflected form.
constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t k = 0; k < table.size(); ++k) {
    std::uint32_t crc = k;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82f63b78u : crc >> 1;
    table[k] = crc;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> table = make_table();

enum Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}
void put_key(std::string& to, int field, Wire wire) { put_varint(to, static_cast<std::uint64_t>(field) << 3 | wire); }
template <class T>
void put_raw(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void put_bytes(std::string& to, int field, std::string_view content) {
  put_key(to, field, bytes);
  put_varint(to, content.size());
  to += content;
}

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// TensorBoard searches for "tfevents" and sorts by the time in the name.
std::string file_in(const std::string& folder) {
  std::error_code error;
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  const auto seconds = static_cast<long long>(wall_time());
  for (int attempt = 0;; ++attempt) {
    const std::string path = folder + "/events.out.tfevents." + std::to_string(seconds) + "." + host + "." +
                             std::to_string(getpid()) + "." + std::to_string(attempt);
    if (!std::filesystem::exists(path, error)) return path;
  }
}

}  // namespace

void make_log_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Failure("--log " + folder + ": " + error.message());
  require_replaceable(folder + "/events");
}

std::uint32_t masked_crc32c(std::string_view data) {
  std::uint32_t crc = 0xffffffffu;
  for (const char c : data) crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  crc ^= 0xffffffffu;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

EventLog::EventLog(const std::string& folder, const Row& outputs, std::vector<std::uint32_t> ports,
                   std::int64_t first_step)
    : outputs_(outputs), ports_(std::move(ports)), bytes_(ByteSink::open(file_in(folder), false)) {
  std::string version;
  put_bytes(version, 3, "brain.Event:2");
  event(version, 0);
  if (first_step == 0) return;
  std::string start, session;
  put_key(session, 1, varint);
  put_varint(session, 1);
  put_bytes(start, 7, session);
  event(start, first_step);
}

void EventLog::row(std::int64_t step) {
  for (const std::uint32_t port : ports_) {
    if (!outputs_.is_present(port)) continue;
    std::string value, summary, content;
    put_bytes(value, 1, outputs_.port(port).name);
    put_key(value, 2, fixed32);
    put_raw(value, static_cast<float>(scalar_value(outputs_, port)));
    put_bytes(summary, 1, value);
    put_bytes(content, 5, summary);
    event(content, step);
  }
}

void EventLog::event(std::string_view content, std::int64_t step) {
  const double now = wall_time();
  std::string message;
  put_key(message, 1, fixed64);
  put_raw(message, now);
  put_key(message, 2, varint);
  put_varint(message, static_cast<std::uint64_t>(step));
  message += content;
  std::string record;
  put_raw(record, static_cast<std::uint64_t>(message.size()));
  put_raw(record, masked_crc32c(record));
  record += message;
  put_raw(record, masked_crc32c(message));
  bytes_.append(record);
  // Regular flushes let TensorBoard show a run while it continues.
  constexpr double seconds_between_flushes = 2;
  if (now - flushed_ < seconds_between_flushes) return;
  flushed_ = now;
  bytes_.flush();
}

}  // namespace rml::rt
