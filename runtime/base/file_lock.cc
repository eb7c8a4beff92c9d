// The system lists the holder of each lock in /proc/locks. If it does not, messages name no
// process.
#include "runtime/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include "runtime/base/failure.h"

namespace rml::rt {
namespace {

bool same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

bool is_standard_stream(const struct stat& file) {
  struct stat own{};
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fstat(stream, &own) == 0 && same_file(own, file)) return true;
  return false;
}

// In some file systems, the device of a file differs from the device in the list; then the inode
// alone decides.
std::string holder_of(const struct stat& file) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> list(std::fopen("/proc/locks", "re"), std::fclose);
  if (list == nullptr) return "another process";
  long found = 0;
  char line[256];
  while (std::fgets(line, sizeof line, list.get()) != nullptr) {
    long process = 0;
    unsigned major_number = 0, minor_number = 0;
    unsigned long long inode = 0;
    if (std::sscanf(line, "%*d: FLOCK %*s WRITE %ld %x:%x:%llu", &process, &major_number, &minor_number, &inode) != 4)
      continue;
    if (inode != file.st_ino || process <= 0) continue;
    found = process;
    if (major_number == major(file.st_dev) && minor_number == minor(file.st_dev)) break;
  }
  return found > 0 ? "process " + std::to_string(found) : "another process";
}

[[noreturn]] void refuse(const std::string& name, const struct stat& file) {
  throw Failure("cannot write " + name + ": " + holder_of(file) + " is writing it; wait until it ends, or stop it");
}

bool lock(int descriptor) {
  int failed = 0;
  do failed = ::flock(descriptor, LOCK_EX | LOCK_NB);
  while (failed != 0 && errno == EINTR);
  return failed == 0 || errno != EWOULDBLOCK;
}

std::string lock_beside(const std::string& path) {
  const std::size_t name = path.rfind('/') + 1;
  return path.substr(0, name) + "." + path.substr(name, 200) + ".rmllock";
}

int open_lock(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  return fd >= 0 ? fd : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

}  // namespace

void lock_file(int descriptor, const std::string& name) {
  struct stat file{};
  if (::fstat(descriptor, &file) != 0 || !S_ISREG(file.st_mode) || is_standard_stream(file)) return;
  if (!lock(descriptor)) refuse(name, file);
}

void require_unlocked(const std::string& path) {
  struct stat file{};
  if (::stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  const std::unique_ptr<const int, void (*)(const int*)> closing(&fd, [](const int* open) { ::close(*open); });
  lock_file(fd, "'" + path + "'");
}

// Another run may remove the lock file between open and lock. The lock then belongs to a removed
// file, so the locked file is compared with the current one, and the attempt repeated.
NameLock::NameLock(const std::string& path) : lock_(lock_beside(path)) {
  constexpr int attempts = 100;
  for (int k = 0; k < attempts; ++k) {
    fd_ = open_lock(lock_);
    struct stat locked{}, named{};
    if (fd_ < 0 || ::fstat(fd_, &locked) != 0) return;
    if (!lock(fd_)) {
      ::close(std::exchange(fd_, -1));
      refuse("'" + path + "'", locked);
    }
    if (::stat(lock_.c_str(), &named) == 0 && same_file(locked, named)) return;
    ::close(std::exchange(fd_, -1));
  }
}

NameLock::NameLock(NameLock&& other) noexcept : lock_(std::move(other.lock_)), fd_(std::exchange(other.fd_, -1)) {}

// Removes the file while it is still locked. A file with content belongs to the user and is kept.
NameLock::~NameLock() {
  if (fd_ < 0) return;
  struct stat file{};
  if (::fstat(fd_, &file) == 0 && S_ISREG(file.st_mode) && file.st_size == 0) ::unlink(lock_.c_str());
  ::close(fd_);
}

}  // namespace rml::rt
