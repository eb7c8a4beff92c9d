// Bytes in: a file, standard input, a peer or memory, inflated on the way where asked.
//
// The unread bytes lie between begin and end; more fetches further ones and may move them.
// Before a read that would block, a callback runs (the run flushes its output there, so that
// a reader of ours who waits for row n before sending row n+1 gets it); the wait itself ends
// with Interrupted on SIGINT or SIGTERM, and, at a file, when another thread asks for it. A source over memory copies
// nothing unless it inflates. At most one buffer is held, as large as the longest record asked for. A named pipe is
// opened without waiting for its writers; it ends when the last of them has gone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/stream_io/live/byte_stream.h"

namespace rml::rt {

// A wait for input, as others see it.
struct Waiting {
  std::function<void()> before = {};
  int cut_short = -1;  // a file descriptor: the wait ends when it can be read
};

class ByteSource {
 public:
  enum class Coding { plain, gzip, deflate };

  // path "-" is standard input. Throws Failure if the file cannot be opened.
  static ByteSource open(const std::string& path, Coding coding, Waiting waiting = {});
  // A record of a peer has at most so many bytes.
  static ByteSource peer(std::string name, std::unique_ptr<ByteInput> input, std::size_t most, Waiting waiting);
  // The bytes must outlive the source.
  static ByteSource memory(std::string name, std::string_view bytes, Coding coding = Coding::plain);

  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  const char* begin() const { return begin_; }
  const char* end() const { return end_; }
  std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  void consume(std::size_t count) { begin_ += count; }
  // Fetches at least one byte more; false at the end of the input.
  bool more();
  // Fetches until `count` bytes are unread; false if the input ends before.
  bool at_least(std::size_t count);
  // Fetches everything, as far as the memory of the run allows.
  std::string_view whole();

  const std::string& name() const { return name_; }
  double fraction() const;

 private:
  struct Inflater;
  ByteSource() = default;
  explicit ByteSource(std::string name);
  void start(Coding coding);
  std::size_t read_raw(char* to, std::size_t room);
  std::size_t inflate_some(char* to, std::size_t room);
  void make_room();
  void move_to_buffer(std::size_t capacity);

  std::string name_;
  int fd_ = -1;
  bool owns_fd_ = false;
  std::unique_ptr<ByteInput> input_;
  std::string_view rest_;  // of a source over memory
  Waiting waiting_;
  std::unique_ptr<Inflater> inflater_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  const char* begin_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t raw_read_ = 0;
  std::uint64_t raw_size_ = 0;  // 0: unknown
  // A record longer than this is a binary file under the wrong name, not a row.
  std::uint64_t most_unread_ = std::uint64_t{1} << 30;
};

}  // namespace rml::rt
