// Writes to a file without a name (O_TMPFILE) if the file system has them, and links it to a
// temporary name before the rename.
#include "runtime/checkpoint/whole_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>

#include "runtime/base/failure.h"

namespace rml::rt {
namespace {

std::uint64_t unforeseeable() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number) return number;
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

std::string name_beside(const std::string& path) {
  const std::size_t name = path.rfind('/') + 1;
  char number[17];
  std::snprintf(number, sizeof number, "%016llx", static_cast<unsigned long long>(unforeseeable()));
  // At most 200 bytes of the name are kept, because file names have at most 255 bytes.
  return path.substr(0, name) + "." + path.substr(name, 200) + "." + number + ".tmp";
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash + 1);
}

// Tries new names until `make` succeeds. No attempt changes an existing file.
template <typename Make>
NewFile make_beside(const std::string& path, Make make) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = name_beside(path);
    const int result = make(name.c_str());
    if (result >= 0 || errno != EEXIST) return {result, std::move(name)};
  }
  return {};
}

// Closes the file and removes it unless it was moved into place. The file has no name until then,
// if the file system supports that, so even a killed process leaves nothing behind.
class PartialFile {
 public:
  explicit PartialFile(const std::string& path) : path_(path) {
    fd_ = ::open(folder_of(path).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    if (fd_ >= 0 && ::access(own_name().c_str(), F_OK) == 0) return;
    if (fd_ >= 0) ::close(fd_);
    NewFile file = create_beside(path, 0666);
    fd_ = file.fd;
    name_ = std::move(file.path);
    if (fd_ < 0) fail();
  }
  ~PartialFile() {
    if (fd_ < 0) return;
    ::close(fd_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  // Keeps the permissions of the replaced file, so that the new one can be read by the same users
  // only.
  void take_permissions() {
    struct stat before{};
    if (::stat(path_.c_str(), &before) == 0 && ::fchmod(fd_, before.st_mode & 07777) != 0) fail();
  }

  void write(std::uint64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      bytes.remove_prefix(static_cast<std::size_t>(written));
      offset += static_cast<std::uint64_t>(written);
    }
  }

  void move_into_place() {
    if (::fsync(fd_) != 0) fail();
    if (name_.empty()) {
      const auto link = [&](const char* name) {
        return ::linkat(AT_FDCWD, own_name().c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
      };
      NewFile linked = make_beside(path_, link);
      if (linked.fd < 0) fail();
      name_ = std::move(linked.path);
    }
    if (::rename(name_.c_str(), path_.c_str()) != 0) fail();
    name_.clear();
    const int fd = std::exchange(fd_, -1);
    if (::close(fd) != 0 && errno != EINTR) fail();
    const int folder_fd = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_fd < 0) fail();
    // Some file systems cannot sync a folder.
    const bool synced = ::fsync(folder_fd) == 0 || errno == EINVAL;
    ::close(folder_fd);
    if (!synced) fail();
  }

 private:
  std::string own_name() const { return "/proc/self/fd/" + std::to_string(fd_); }
  [[noreturn]] void fail() const { throw Failure("cannot write '" + path_ + "': " + std::strerror(errno)); }

  const std::string path_;
  std::string name_;  // empty: the file has no name
  int fd_ = -1;
};

}  // namespace

NewFile create_beside(const std::string& path, unsigned mode) {
  return make_beside(
      path, [&](const char* name) { return ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode); });
}

void write_whole_file(const std::string& path, const std::vector<std::string_view>& pieces) {
  write_whole_file(path, [&](const PutBytes& put) { put_in_order(pieces, put); });
}

void put_in_order(const std::vector<std::string_view>& pieces, const PutBytes& put) {
  std::uint64_t at = 0;
  for (const std::string_view piece : pieces) {
    put(at, piece);
    at += piece.size();
  }
}

void write_whole_file(const std::string& path, const std::function<void(const PutBytes&)>& write) {
  PartialFile file(path);
  file.take_permissions();
  write([&](std::uint64_t offset, std::string_view bytes) { file.write(offset, bytes); });
  file.move_into_place();
}

void require_replaceable(const std::string& path) { const PartialFile nothing(path); }

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
  // opening a pipe must not block
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
