// Reads bytes from a file, standard input, a peer or memory, and decompresses them on request.
//
// The unread bytes are between begin and end; `more` fetches further ones and may move them. A
// callback runs before each read that would block. The run flushes its output there, so that a
// peer receives row n even if it sends row n+1 only afterwards. SIGINT and SIGTERM end the wait
// with Interrupted; for a file, another thread can also end it.
//
// A source over memory copies nothing unless it decompresses. At most one buffer is held, as
// large as the longest requested record. Opening a named pipe does not wait for its writers; the
// input ends when the last of them has closed it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/stream_io/bytes/byte_stream.h"

namespace rml::rt {

// Reads bytes of a descriptor as soon as there are some; 0 at the end. Throws Interrupted after a signal, and Failure,
// which contains the name, for an error.
std::size_t read_descriptor(int fd, char* to, std::size_t room, const Waiting& waiting, const std::string& name);

class ByteSource {
 public:
  enum class Coding { plain, gzip, deflate };

  // Opens a file; "-" is standard input. Throws Failure if it cannot be opened.
  static ByteSource open(const std::string& path, Coding coding, Waiting waiting = {});
  // Reads records from a peer. `most` is the maximum size of a record in bytes.
  static ByteSource peer(std::string name, std::unique_ptr<ByteInput> input, std::size_t most, Waiting waiting);
  // Reads bytes in memory, which must outlive the source.
  static ByteSource memory(std::string name, std::string_view bytes, Coding coding = Coding::plain);

  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  const char* begin() const { return begin_; }
  const char* end() const { return end_; }
  std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  void consume(std::size_t count) { begin_ += count; }
  // Fetches at least one more byte; false at the end of the input.
  bool more();
  // Fetches until `count` bytes are unread; false if the input ends before.
  bool at_least(std::size_t count);
  // Fetches the whole input, within the memory ceiling of the run.
  std::string_view whole();

  const std::string& name() const { return name_; }
  double fraction() const;
  // True if `seek` can be called: the bytes are in memory or in a regular file, and not compressed.
  bool can_seek() const;
  // The number of consumed bytes.
  std::uint64_t offset() const { return raw_read_ - size(); }
  // Continues at an offset. Bytes in the buffer are not read again.
  void seek(std::uint64_t offset);

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
  bool device_ = false;  // true if the source is a device that may have no end; false for a terminal
  std::unique_ptr<ByteInput> input_;
  std::string_view rest_;  // the rest of a source over memory
  Waiting waiting_;
  std::unique_ptr<Inflater> inflater_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  const char* begin_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t raw_read_ = 0;
  std::uint64_t raw_size_ = 0;        // bytes of the file before decompression; 0: unknown
  std::uint64_t first_ = 0;           // position in the file of the first byte that was read
  bool regular_ = false;              // the source is a regular file
  std::size_t most_read_ = SIZE_MAX;  // size of the next read in bytes; small after a seek
  // Limit on unread bytes. A longer record shows that a binary file has a wrong name.
  std::uint64_t most_unread_ = std::uint64_t{1} << 30;
};

}  // namespace rml::rt
