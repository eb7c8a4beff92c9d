// Reads go through poll with a short timeout, so that a signal between the check of the flag and
// the wait is noticed after at most 200 ms. A file may contain several gzip members; bytes after
// the last one are ignored, as gzip does.
#include "runtime/stream_io/bytes/byte_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/base/failure.h"
#include "runtime/base/memory.h"
#include "runtime/base/signals.h"
#include "runtime/stream_io/bytes/waiting.h"

namespace rml::rt {
namespace {

constexpr std::size_t chunk = std::size_t{256} << 10;
}  // namespace

std::size_t read_descriptor(int fd, char* to, std::size_t room, const Waiting& waiting, const std::string& name) {
  pollfd wanted[] = {{fd, POLLIN, 0}, {waiting.cut_short, POLLIN, 0}};
  bool waited = false;
  while (true) {
    const int part = waiting.deadline != nullptr ? waiting.deadline->part(tick_ms) : tick_ms;
    const int ready = ::poll(wanted, 2, waited ? part : 0);
    if (ready > 0 && wanted[1].revents != 0) throw Interrupted{};
    if (ready > 0) {
      const ssize_t count = ::read(fd, to, room);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
        throw Failure("cannot read '" + name + "': " + std::strerror(errno));
    }
    if (interrupt_signal() != 0) throw Interrupted{};
    waiting.tick(waited);
    if (waiting.deadline != nullptr) waiting.deadline->check();
  }
}

struct ByteSource::Inflater {
  z_stream stream{};
  Coding coding;
  std::unique_ptr<char[]> raw = std::make_unique<char[]>(chunk);
  bool member_open = true;  // true inside a gzip member or the deflate stream
  bool raw_ended = false;

  explicit Inflater(Coding c) : coding(c) {
    if (inflateInit2(&stream, coding == Coding::gzip ? 15 + 16 : -15) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

ByteSource::ByteSource(std::string name) : name_(std::move(name)) {}

ByteSource::ByteSource(ByteSource&& other) noexcept { *this = std::move(other); }

ByteSource& ByteSource::operator=(ByteSource&& other) noexcept {
  name_ = std::move(other.name_);
  std::swap(fd_, other.fd_);
  std::swap(owns_fd_, other.owns_fd_);
  device_ = other.device_;
  input_ = std::move(other.input_);
  rest_ = other.rest_;
  waiting_ = std::move(other.waiting_);
  inflater_ = std::move(other.inflater_);
  buffer_ = std::move(other.buffer_);
  capacity_ = other.capacity_;
  begin_ = other.begin_;
  end_ = other.end_;
  raw_read_ = other.raw_read_;
  raw_size_ = other.raw_size_;
  most_unread_ = other.most_unread_;
  first_ = other.first_;
  regular_ = other.regular_;
  most_read_ = other.most_read_;
  return *this;
}

ByteSource::~ByteSource() {
  if (owns_fd_) ::close(fd_);
}

ByteSource ByteSource::open(const std::string& path, Coding coding, Waiting waiting) {
  ByteSource source(path == "-" ? "<stdin>" : path);
  if (path == "-") {
    source.fd_ = STDIN_FILENO;
  } else {
    // Opening a pipe waits for a writer, which a signal could not interrupt, so it is opened
    // without blocking.
    struct stat kind{};
    const bool pipe = ::stat(path.c_str(), &kind) == 0 && S_ISFIFO(kind.st_mode);
    source.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (pipe ? O_NONBLOCK : 0));
    if (source.fd_ < 0) throw Failure("cannot open '" + path + "': " + std::strerror(errno));
    source.owns_fd_ = true;
  }
  struct stat status{};
  if (fstat(source.fd_, &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw Failure("cannot read '" + source.name_ + "': it is a directory");
    source.regular_ = S_ISREG(status.st_mode);
    if (source.regular_) source.raw_size_ = static_cast<std::uint64_t>(status.st_size);
    const off_t at = source.regular_ ? ::lseek(source.fd_, 0, SEEK_CUR) : 0;
    if (at > 0) source.first_ = static_cast<std::uint64_t>(at);
    source.device_ = (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) && ::isatty(source.fd_) == 0;
  }
  source.waiting_ = std::move(waiting);
  source.start(coding);
  return source;
}

ByteSource ByteSource::peer(std::string name, std::unique_ptr<ByteInput> input, std::size_t most, Waiting waiting) {
  ByteSource source(std::move(name));
  source.input_ = std::move(input);
  source.most_unread_ = most;
  source.waiting_ = std::move(waiting);
  return source;
}

ByteSource ByteSource::memory(std::string name, std::string_view bytes, Coding coding) {
  ByteSource source(std::move(name));
  source.raw_size_ = bytes.size();
  if (coding == Coding::plain) {
    source.begin_ = bytes.data();
    source.end_ = bytes.data() + bytes.size();
    source.raw_read_ = bytes.size();
  } else {
    source.rest_ = bytes;
  }
  source.start(coding);
  return source;
}

void ByteSource::start(Coding coding) {
  if (coding != Coding::plain) inflater_ = std::make_unique<Inflater>(coding);
}

double ByteSource::fraction() const {
  if (raw_size_ == 0) return -1;
  const std::uint64_t unread = inflater_ ? 0 : size();
  return std::min(1.0, static_cast<double>(raw_read_ - unread) / static_cast<double>(raw_size_));
}

bool ByteSource::can_seek() const { return !inflater_ && !input_ && (fd_ < 0 || regular_); }

void ByteSource::seek(std::uint64_t offset) {
  const std::uint64_t in_memory = fd_ < 0 ? raw_read_ : buffer_ ? static_cast<std::uint64_t>(end_ - buffer_.get()) : 0;
  if (offset <= raw_read_ && raw_read_ - offset <= in_memory) {
    begin_ = end_ - (raw_read_ - offset);
    return;
  }
  constexpr std::size_t first_read = 4096;
  if (::lseek(fd_, static_cast<off_t>(first_ + offset), SEEK_SET) < 0)
    throw Failure("cannot read '" + name_ + "': " + std::strerror(errno));
  begin_ = end_ = buffer_.get();
  raw_read_ = offset;
  most_read_ = first_read;
}

std::size_t ByteSource::read_raw(char* to, std::size_t room) {
  if (input_) return input_->read(to, room, waiting_);
  if (fd_ < 0) {
    const std::size_t count = std::min(room, rest_.size());
    std::memcpy(to, rest_.data(), count);
    rest_.remove_prefix(count);
    raw_read_ += count;
    return count;
  }
  const std::size_t count = read_descriptor(fd_, to, room, waiting_, name_);
  raw_read_ += count;
  return count;
}

std::size_t ByteSource::inflate_some(char* to, std::size_t room) {
  Inflater& inflater = *inflater_;
  z_stream& z = inflater.stream;
  z.next_out = reinterpret_cast<Bytef*>(to);
  z.avail_out = static_cast<uInt>(std::min<std::size_t>(room, chunk));
  const uInt asked = z.avail_out;
  while (z.avail_out == asked) {
    if (z.avail_in == 0 && !inflater.raw_ended) {
      z.next_in = reinterpret_cast<Bytef*>(inflater.raw.get());
      z.avail_in = static_cast<uInt>(read_raw(inflater.raw.get(), chunk));
      inflater.raw_ended = z.avail_in == 0;
    }
    if (!inflater.member_open) {
      if (z.avail_in == 0 || inflater.coding == Coding::deflate || *z.next_in != 0x1f) return 0;
      inflateReset(&z);
      inflater.member_open = true;
    }
    if (z.avail_in == 0) {
      if (z.total_in == 0 && inflater.coding == Coding::gzip && raw_read_ == 0) return 0;
      throw Failure(name_ + ": truncated: the compressed data ends too early");
    }
    const int result = inflate(&z, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      inflater.member_open = false;
    } else if (result == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      throw Failure(name_ + ": damaged compressed data (" + (z.msg ? z.msg : "unknown error") + ")");
    }
  }
  return asked - z.avail_out;
}

void ByteSource::make_room() {
  const std::size_t unread = size();
  if (unread > most_unread_) {
    if (input_)
      throw LostPeer(name_,
                     "a row of more than " + std::to_string(most_unread_) + " bytes (?line=BYTES raises the limit)");
    throw Failure(name_ + ": more than " + std::to_string(most_unread_ >> 20) +
                  " MiB would have to be in memory at the same time");
  }
  if (unread + chunk > capacity_) return move_to_buffer(std::max(2 * chunk, 2 * unread + chunk));
  if (unread > 0) std::memmove(buffer_.get(), begin_, unread);
  begin_ = buffer_.get();
  end_ = begin_ + unread;
}

void ByteSource::move_to_buffer(std::size_t capacity) {
  const std::size_t unread = size();
  std::unique_ptr<char[]> larger(new char[capacity]);
  if (unread > 0) std::memcpy(larger.get(), begin_, unread);
  buffer_ = std::move(larger);
  capacity_ = capacity;
  begin_ = buffer_.get();
  end_ = begin_ + unread;
}

bool ByteSource::more() {
  if (fd_ < 0 && !input_ && !inflater_) return false;
  const std::size_t used = buffer_ ? static_cast<std::size_t>(end_ - buffer_.get()) : capacity_;
  if (capacity_ - used < chunk) make_room();
  char* to = buffer_.get() + (end_ - buffer_.get());
  const std::size_t free = static_cast<std::size_t>(buffer_.get() + capacity_ - to);
  const std::size_t room = std::min(free, most_read_);
  if (most_read_ < chunk) most_read_ *= 2;
  const std::size_t count = inflater_ ? inflate_some(to, room) : read_raw(to, room);
  end_ += count;
  return count > 0;
}

bool ByteSource::at_least(std::size_t count) {
  while (size() < count) {
    if (!more()) return false;
  }
  return true;
}

std::string_view ByteSource::whole() {
  most_unread_ = default_memory_ceiling();
  // The buffer gets the size of the file at once, so that it need not be moved while it fills.
  if (fd_ >= 0 && !inflater_ && raw_size_ > capacity_ && raw_size_ <= most_unread_) move_to_buffer(raw_size_ + chunk);
  while (more()) {
    if (device_) throw Failure("cannot read '" + name_ + "': it is a device, whose end this format would wait for");
  }
  return {begin_, size()};
}

}  // namespace rml::rt
