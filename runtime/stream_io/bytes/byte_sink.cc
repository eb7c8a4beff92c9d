// Standard output is never closed, because the host may use it. A duplicate of its descriptor is
// closed instead, which reports the same late errors.
#include "runtime/stream_io/bytes/byte_sink.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/base/file_lock.h"
#include "runtime/base/signals.h"

namespace rml::rt {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{256} << 10;

// True for standard output, also if `--output /dev/stdout` has opened it anew.
bool is_standard_output(int descriptor) {
  struct stat own{}, standard{};
  return descriptor == STDOUT_FILENO || (fstat(descriptor, &own) == 0 && fstat(STDOUT_FILENO, &standard) == 0 &&
                                         own.st_dev == standard.st_dev && own.st_ino == standard.st_ino);
}

}  // namespace

struct ByteSink::Deflater {
  z_stream stream{};
  std::unique_ptr<char[]> out = std::make_unique<char[]>(buffer_bytes);
  bool member_open = true;  // true while a member is open; even an empty gzip file has one

  Deflater() {
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Deflater() { deflateEnd(&stream); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
};

ByteSink::ByteSink(std::string name) : name_(std::move(name)), buffer_(new char[buffer_bytes]) {
  next_ = buffer_.get();
  limit_ = next_ + buffer_bytes;
}

ByteSink::ByteSink(ByteSink&& other) noexcept
    : name_(std::move(other.name_)),
      fd_(std::exchange(other.fd_, -1)),
      owns_fd_(std::exchange(other.owns_fd_, false)),
      patchable_(other.patchable_),
      pipe_(other.pipe_),
      grace_(other.grace_),
      failed_(other.failed_),
      origin_(other.origin_),
      output_(std::move(other.output_)),
      deflater_(std::move(other.deflater_)),
      buffer_(std::move(other.buffer_)),
      next_(other.next_),
      limit_(other.limit_) {}

ByteSink::~ByteSink() {
  if (owns_fd_) ::close(fd_);
}

ByteSink ByteSink::open(const std::string& path, bool gzip) {
  ByteSink sink(path == "-" ? "standard output" : "'" + path + "'");
  if (path == "-") {
    sink.fd_ = STDOUT_FILENO;
  } else {
    sink.open_file(path);
  }
  sink.start(gzip);
  return sink;
}

// Opens a pipe without blocking and retries until it has a reader, so that a signal can end the
// wait.
void ByteSink::open_file(const std::string& path) {
  BackOff back_off;
  while (true) {
    struct stat status{};
    const bool pipe = ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
    const int how = pipe ? O_NONBLOCK : O_CREAT;
    fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | how, 0666);
    if (fd_ >= 0) break;
    if (!(pipe && errno == ENXIO)) fail(std::strerror(errno));
    back_off.pause(check_interrupt);
  }
  owns_fd_ = true;
  lock_file(fd_, name_);
  struct stat status{};
  if (::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode) && ::ftruncate(fd_, 0) != 0) fail(std::strerror(errno));
}

ByteSink ByteSink::peer(std::string name, std::unique_ptr<ByteOutput> output) {
  ByteSink sink(std::move(name));
  sink.output_ = std::move(output);
  return sink;
}

ByteSink ByteSink::open_again(const std::string& path, bool gzip, const std::function<std::uint64_t()>& length) {
  ByteSink sink("'" + path + "'");
  sink.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (sink.fd_ < 0) sink.fail(std::strerror(errno));
  sink.owns_fd_ = true;
  lock_file(sink.fd_, sink.name_);
  sink.start(gzip);
  const std::uint64_t settled = length();
  struct stat status{};
  if (fstat(sink.fd_, &status) != 0) sink.fail(std::strerror(errno));
  if (static_cast<std::uint64_t>(status.st_size) < settled) {
    throw Failure("cannot continue " + sink.name_ + ": it has " + std::to_string(status.st_size) + " bytes, but " +
                  std::to_string(settled) + " had been written when the state was saved");
  }
  if (ftruncate(sink.fd_, static_cast<off_t>(settled)) != 0 ||
      lseek(sink.fd_, static_cast<off_t>(settled), SEEK_SET) < 0)
    sink.fail(std::strerror(errno));
  if (sink.deflater_) sink.deflater_->member_open = false;
  return sink;
}

void ByteSink::start(bool gzip) {
  if (gzip) deflater_ = std::make_unique<Deflater>();
  struct stat status{};
  const int flags = fcntl(fd_, F_GETFL);
  pipe_ = fstat(fd_, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
  const off_t origin = lseek(fd_, 0, SEEK_CUR);
  // With O_APPEND a positioned write goes to the end of the file, so such files cannot be
  // patched.
  if (!gzip && fstat(fd_, &status) == 0 && S_ISREG(status.st_mode) && flags >= 0 && !(flags & O_APPEND) &&
      origin >= 0) {
    patchable_ = true;
    origin_ = static_cast<std::uint64_t>(origin);
  }
}

void ByteSink::fail(const char* reason) {
  failed_ = true;
  throw Failure("cannot write " + name_ + ": " + reason);
}

void ByteSink::write_out(const char* bytes, std::size_t count) {
  if (output_) {
    // After a failed write the sink must not write again.
    failed_ = true;
    output_->write({bytes, count});
    failed_ = false;
    return;
  }
  while (count > 0) {
    if (pipe_ && !ready(fd_, POLLOUT, tick_ms)) {
      if (grace_.over()) fail("interrupted, and no reader takes the output");
      continue;
    }
    const ssize_t written = ::write(fd_, bytes, count);
    if (written >= 0) {
      bytes += written;
      count -= static_cast<std::size_t>(written);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!ready(fd_, POLLOUT, tick_ms) && grace_.over()) fail("interrupted, and no reader takes the output");
    } else if (errno == EPIPE && is_standard_output(fd_)) {
      // It is not an error if the reader stops early (`| head -1`): nothing more is written, and
      // the run ends.
      failed_ = true;
      return note_closed_pipe();
    } else if (errno != EINTR) {
      fail(std::strerror(errno));
    }
  }
}

void ByteSink::deflate_out(const char* bytes, std::size_t count, bool finish) {
  z_stream& z = deflater_->stream;
  deflater_->member_open = true;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes));
  z.avail_in = static_cast<uInt>(count);
  int result = Z_OK;
  do {
    z.next_out = reinterpret_cast<Bytef*>(deflater_->out.get());
    z.avail_out = static_cast<uInt>(buffer_bytes);
    result = deflate(&z, finish ? Z_FINISH : Z_NO_FLUSH);
    if (result == Z_STREAM_ERROR) fail("compression failed");
    write_out(deflater_->out.get(), buffer_bytes - z.avail_out);
  } while (finish ? result != Z_STREAM_END : z.avail_out == 0);
}

void ByteSink::write_buffer() {
  const std::size_t count = static_cast<std::size_t>(next_ - buffer_.get());
  next_ = buffer_.get();
  if (failed_ || count == 0) return;
  if (deflater_) {
    deflate_out(buffer_.get(), count, false);
  } else {
    write_out(buffer_.get(), count);
  }
}

void ByteSink::append(std::string_view bytes) {
  while (!bytes.empty()) {
    if (next_ == limit_) write_buffer();
    const std::size_t count = std::min(bytes.size(), static_cast<std::size_t>(limit_ - next_));
    std::memcpy(next_, bytes.data(), count);
    next_ += count;
    bytes.remove_prefix(count);
  }
}

void ByteSink::set_early(bool early) {
  if (!output_ || failed_) return;
  if (early) write_buffer();
  output_->set_early(early);
}

void ByteSink::flush() {
  write_buffer();
  if (!output_ || failed_) return;
  failed_ = true;
  output_->flush();
  failed_ = false;
}

// Ends the gzip member, so that later bytes begin a new one. gunzip joins the members.
void ByteSink::end_member() {
  if (!deflater_ || !deflater_->member_open) return;
  deflate_out("", 0, true);
  deflateReset(&deflater_->stream);
  deflater_->member_open = false;
}

std::optional<std::uint64_t> ByteSink::settle() {
  flush();
  end_member();
  struct stat status{};
  if (!owns_fd_ || failed_ || fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (fdatasync(fd_) != 0) fail(std::strerror(errno));
  const off_t length = lseek(fd_, 0, SEEK_CUR);
  if (length < 0) fail(std::strerror(errno));
  return static_cast<std::uint64_t>(length);
}

void ByteSink::patch(std::uint64_t offset, std::string_view bytes) {
  flush();
  while (!bytes.empty() && !failed_) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(origin_ + offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void ByteSink::close() {
  if (output_ && !failed_) {
    write_buffer();
    failed_ = true;  // prevents further writes, even if close fails
    output_->close();
  }
  if (fd_ < 0) return;
  write_buffer();
  if (!failed_) end_member();
  const int fd = owns_fd_ ? fd_ : ::dup(fd_);
  fd_ = -1;
  owns_fd_ = false;
  if (failed_) {
    ::close(fd);
  } else if (fd < 0 || (::close(fd) != 0 && errno != EINTR)) {
    fail(std::strerror(errno));
  }
}

}  // namespace rml::rt
