// See whole_file.h.
#include "runtime/checkpoint/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "runtime/failure.h"

namespace rml::rt {
namespace {

// Closed, and removed unless it was moved into place.
class PartialFile {
 public:
  explicit PartialFile(const std::string& path) : path_(path), partial_(path + ".part") {
    fd_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ < 0) fail();
  }
  ~PartialFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!moved_ && opened()) ::unlink(partial_.c_str());
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void move_into_place() {
    if (::fsync(fd_) != 0) fail();
    const int fd = fd_;
    fd_ = closed;
    if (::close(fd) != 0 && errno != EINTR) fail();
    if (::rename(partial_.c_str(), path_.c_str()) != 0) fail();
    moved_ = true;
    const std::size_t slash = path_.rfind('/');
    const std::string folder = slash == path_.npos ? "." : path_.substr(0, slash + 1);
    const int folder_fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_fd < 0) fail();
    // Some file systems have nothing to sync in a folder.
    const bool synced = ::fsync(folder_fd) == 0 || errno == EINVAL;
    ::close(folder_fd);
    if (!synced) fail();
  }

 private:
  static constexpr int closed = -2;
  bool opened() const { return fd_ != -1; }
  [[noreturn]] void fail() const { throw Failure("cannot write '" + path_ + "': " + std::strerror(errno)); }

  const std::string path_, partial_;
  int fd_ = -1;
  bool moved_ = false;
};

}  // namespace

void write_whole_file(const std::string& path, const std::vector<std::string_view>& pieces) {
  PartialFile file(path);
  for (const std::string_view piece : pieces) file.write(piece);
  file.move_into_place();
}

void refuse_special_file(const std::string& option, const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return;
  throw Failure(option + " " + path + ": not a regular file", exit_usage);
}

bool file_exists(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0;
}

std::string read_whole_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto fail = [&] {
    const std::string reason = std::strerror(errno);
    if (fd >= 0) ::close(fd);
    throw Failure("cannot read '" + path + "': " + reason);
  };
  struct stat status{};
  if (fd < 0 || ::fstat(fd, &status) != 0) fail();
  if (!S_ISREG(status.st_mode)) {
    ::close(fd);
    throw Failure("cannot read '" + path + "': not a regular file");
  }
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t count = ::read(fd, bytes.data() + have, bytes.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  ::close(fd);
  bytes.resize(have);
  return bytes;
}

}  // namespace rml::rt
