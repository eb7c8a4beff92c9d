// Bytes out: a file, standard output or a peer, deflated on the way where asked.
//
// One buffer, written when full, at flush and at close. Every failure to write (full disk,
// closed pipe, a late error of close) is a Failure that names the file; after one, the sink
// writes nothing more. A plain regular file can be patched at its beginning (the row count of an
// .npy). What was settled is on the disk, and a later sink can go on from there. A named pipe is opened
// when a process reads it. A pipe without a reader holds up the run; after a signal for ten seconds only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/stream_io/live/byte_stream.h"
#include "runtime/stream_io/live/waiting.h"

namespace rml::rt {

class ByteSink {
 public:
  // path "-" is standard output. Creates or truncates the file, and locks it (base/file_lock.h). Throws Failure.
  static ByteSink open(const std::string& path, bool gzip);
  static ByteSink peer(std::string name, std::unique_ptr<ByteOutput> output);
  // Cuts an existing file to the length that settle gave, and goes on behind it.
  static ByteSink open_again(const std::string& path, bool gzip, std::uint64_t settled);
  ByteSink(ByteSink&&) noexcept;
  ByteSink& operator=(ByteSink&&) = delete;
  ~ByteSink();

  // Room for count bytes (at most 64 KiB); what is written there counts after commit(its end).
  char* room(std::size_t count) {
    if (static_cast<std::size_t>(limit_ - next_) < count) write_buffer();
    return next_;
  }
  void commit(char* end) { next_ = end; }
  void append(std::string_view bytes);
  // As RowSink says; of peers.
  void set_early(bool early);
  // Hands everything to the system; compressed output keeps what its compressor still holds.
  void flush();
  void close();
  // Everything appended is on the disk; the length of the file. Nothing if it is no regular file of our own.
  std::optional<std::uint64_t> settle();

  bool patchable() const { return patchable_; }
  // Overwrites bytes already appended, at an offset from the first one.
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
