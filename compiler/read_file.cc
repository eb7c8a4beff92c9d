// The mapping is private and read-only. `read_file` also reads standard input ("-"), pipes and
// terminals.
#include "compiler/read_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rml {

FileView::FileView(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat status{};
  if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapped != MAP_FAILED) begin_ = mapped, size_ = size;
  }
  close(descriptor);
}

FileView::~FileView() {
  if (begin_ != nullptr) munmap(begin_, size_);
}

std::optional<std::string> read_file(const std::filesystem::path& path, std::string& error) {
  const int descriptor = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    error = std::strerror(errno);
    return std::nullopt;
  }
  // A device may be endless, so it is refused as soon as it yields a byte. A terminal ends.
  struct stat status{};
  const bool device = fstat(descriptor, &status) == 0 && (S_ISBLK(status.st_mode) || S_ISCHR(status.st_mode)) &&
                      isatty(descriptor) == 0;
  std::string text;
  char block[1 << 16];
  for (;;) {
    const ssize_t got = ::read(descriptor, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || (got > 0 && device)) {
      error = got < 0 ? std::strerror(errno) : "it is a device, not a file";
      close(descriptor);
      return std::nullopt;
    }
    if (got == 0) break;
    text.append(block, static_cast<std::size_t>(got));
  }
  close(descriptor);
  return text;
}

}  // namespace rml
