// Writes bytes to a file, to standard output or to a peer, compressed on request.
//
// One buffer is written out when it is full, at flush and at close. Every failure to write (full
// disk, closed pipe, late error of close) is a Failure that names the file; after a failure the
// sink writes nothing more. A plain regular file can be patched at its beginning, as needed for
// the row count of an .npy file. After `settle` the bytes are on disk, and a later sink can
// continue from there.
//
// Opening a named pipe waits until a process reads it. A pipe whose reader does not read holds up
// the run; after a signal it does so for at most ten seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/stream_io/bytes/byte_stream.h"
#include "runtime/stream_io/bytes/waiting.h"

namespace rml::rt {

class ByteSink {
 public:
  // path "-" is standard output. Creates or truncates the file and locks it (base/file_lock.h).
  // Throws Failure.
  static ByteSink open(const std::string& path, bool gzip);
  static ByteSink peer(std::string name, std::unique_ptr<ByteOutput> output);
  // Locks an existing file, cuts it to the length that `length` then returns, and continues from
  // there.
  static ByteSink open_again(const std::string& path, bool gzip, const std::function<std::uint64_t()>& length);
  ByteSink(ByteSink&&) noexcept;
  ByteSink& operator=(ByteSink&&) = delete;
  ~ByteSink();

  // Returns the address of at least count free bytes (at most 64 KiB). Bytes written there become
  // part of the output by commit(end of the bytes).
  char* room(std::size_t count) {
    if (static_cast<std::size_t>(limit_ - next_) < count) write_buffer();
    return next_;
  }
  void commit(char* end) { next_ = end; }
  void append(std::string_view bytes);
  // For peers; see RowSink::set_early.
  void set_early(bool early);
  // Hands all bytes to the system, except those that a compressor still holds.
  void flush();
  void close();
  // Brings all bytes to the disk and returns the length of the file; none if it is not a regular
  // file that this sink has opened.
  std::optional<std::uint64_t> settle();

  bool patchable() const { return patchable_; }
  // Overwrites bytes that were already appended, at an offset from the first one.
  void patch(std::uint64_t offset, std::string_view bytes);
  const std::string& name() const { return name_; }

 private:
  struct Deflater;
  explicit ByteSink(std::string name);
  void start(bool gzip);
  void write_buffer();
  void write_out(const char* bytes, std::size_t count);
  void deflate_out(const char* bytes, std::size_t count, bool finish);
  void end_member();
  void open_file(const std::string& path);
  [[noreturn]] void fail(const char* reason);

  std::string name_;
  int fd_ = -1;
  bool owns_fd_ = false;
  bool patchable_ = false;
  bool pipe_ = false;
  Grace grace_{10};
  bool failed_ = false;
  std::uint64_t origin_ = 0;  // file offset of the first byte
  std::unique_ptr<ByteOutput> output_;
  std::unique_ptr<Deflater> deflater_;
  std::unique_ptr<char[]> buffer_;
  char* next_ = nullptr;
  char* limit_ = nullptr;
};

}  // namespace rml::rt
