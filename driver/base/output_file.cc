// Writes files by POSIX calls rather than streams: every failure has its errno, and close is checked too (a full disk
// may be reported only there).
#include "driver/base/output_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "compiler/read_file.h"
#include "runtime/base/file_identity.h"
#include "runtime/checkpoint/whole_file.h"

namespace rml {
namespace {

// Writes all bytes. Returns 0, or the errno of the failure.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// Writes and closes the descriptor. `like`: the file whose permissions the new one gets, if there is one.
int write_to(int descriptor, const std::vector<std::string_view>& pieces, const struct stat* like) {
  if (descriptor < 0) return errno;
  int error = 0;
  for (const std::string_view bytes : pieces)
    if (error == 0) error = write_all(descriptor, bytes);
  if (error == 0 && like != nullptr && fchmod(descriptor, like->st_mode & 07777) != 0) error = errno;
  const int closed = close(descriptor) == 0 ? 0 : errno;
  return error != 0 ? error : closed;
}

int write_all_at(int descriptor, std::string_view bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
  return 0;
}

// Copies inside the kernel if possible, so that the bytes need no memory here.
int copy_all(int from, int to) {
  for (;;) {
    const ssize_t copied = copy_file_range(from, nullptr, to, nullptr, std::size_t{1} << 30, 0);
    if (copied == 0) return 0;
    if (copied < 0 && errno != EINTR) break;
  }
  char block[1 << 16];
  for (;;) {
    const ssize_t got = ::read(from, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0 ? 0 : errno;
    if (const int error = write_all(to, {block, static_cast<std::size_t>(got)})) return error;
  }
}

// Writes a copy of the base with the program attached, and closes the descriptor.
int write_copy(int to, const std::filesystem::path& base, const AttachedProgram& program) {
  if (to < 0) return errno;
  const int from = open(base.c_str(), O_RDONLY | O_CLOEXEC);
  int error = from < 0 ? errno : copy_all(from, to);
  if (error == 0) error = write_all(to, program.tail);
  for (const auto& [at, bytes] : program.replaced)
    if (error == 0) error = write_all_at(to, bytes, at);
  if (from >= 0) close(from);
  const int closed = close(to) == 0 ? 0 : errno;
  return error != 0 ? error : closed;
}

}  // namespace

FolderBeside::FolderBeside(const std::filesystem::path& path) {
  std::string folder = path.parent_path() / ("." + path.filename().string().substr(0, 200) + ".XXXXXX");
  if (mkdtemp(folder.data()) != nullptr)
    path_ = folder;
  else
    error_ = std::strerror(errno);
}

FolderBeside::~FolderBeside() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

void report_unwritable(const std::filesystem::path& path, const std::string& reason, Diagnostics& diagnostics) {
  diagnostics.report(Code::E0804, {}, "cannot write '" + path.string() + "': " + reason);
}

bool overwrites_none(const std::filesystem::path& path, const std::vector<std::string>& read,
                     Diagnostics& diagnostics) {
  const auto target = rt::identity_of(path.string());
  for (const std::string& file : read) {
    if (!target || target != rt::identity_of(file)) continue;
    report_unwritable(path, path == file ? "it is the file that is read" : "it is '" + file + "', which is read",
                      diagnostics);
    return false;
  }
  return true;
}

bool all_replaceable(const std::vector<std::filesystem::path>& paths, Diagnostics& diagnostics) {
  for (const std::filesystem::path& path : paths) {
    struct stat status{};
    if (stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) continue;
    report_unwritable(
        path, S_ISDIR(status.st_mode) ? std::strerror(EISDIR) : "it is not a regular file, but two files are written",
        diagnostics);
    return false;
  }
  return true;
}

bool move_into_place(const std::filesystem::path& temporary, const std::filesystem::path& path,
                     Diagnostics& diagnostics) {
  // A device or pipe is never replaced; the bytes are written to it.
  struct stat status{};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    std::string error;
    const std::optional<std::string> bytes = read_file(temporary, error);
    unlink(temporary.c_str());
    if (bytes) return write_file(path, *bytes, diagnostics);
    report_unwritable(path, error, diagnostics);
    return false;
  }
  if (rename(temporary.c_str(), path.c_str()) == 0) return true;
  const int error = errno;
  unlink(temporary.c_str());
  report_unwritable(path, std::strerror(error), diagnostics);
  return false;
}

namespace {

// The name of a new file, if it was written without an error. Otherwise (`error` is not 0) the file is removed.
std::optional<std::string> whole(const rt::NewFile& file, int error, const std::filesystem::path& path,
                                 Diagnostics& diagnostics) {
  if (error == 0) return file.path;
  if (file.fd >= 0) unlink(file.path.c_str());
  report_unwritable(path, std::strerror(error), diagnostics);
  return std::nullopt;
}

// Writes a temporary file beside the path. `like`: the file that is there now, if any.
std::optional<std::string> write_beside(const std::filesystem::path& path, const std::vector<std::string_view>& pieces,
                                        const struct stat* like, Diagnostics& diagnostics) {
  const rt::NewFile file = rt::create_beside(path.string(), 0666);
  return whole(file, write_to(file.fd, pieces, like), path, diagnostics);
}

}  // namespace

bool write_file(const std::filesystem::path& path, std::string_view bytes, Diagnostics& diagnostics) {
  struct stat status{};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    const int error = write_to(open(path.c_str(), O_WRONLY | O_CLOEXEC), {bytes}, nullptr);
    if (error != 0) report_unwritable(path, std::strerror(error), diagnostics);
    return error == 0;
  }
  const auto temporary = write_beside(path, {bytes}, exists ? &status : nullptr, diagnostics);
  return temporary && move_into_place(*temporary, path, diagnostics);
}

bool write_together(const std::vector<OutputFile>& files, Diagnostics& diagnostics) {
  std::vector<std::filesystem::path> paths;
  for (const OutputFile& file : files) paths.push_back(file.path);
  if (!all_replaceable(paths, diagnostics)) return false;
  std::vector<std::string> temporaries;
  const auto give_up = [&](std::size_t from) {
    for (std::size_t k = from; k < temporaries.size(); ++k) unlink(temporaries[k].c_str());
    return false;
  };
  for (const OutputFile& file : files) {
    struct stat status{};
    const bool exists = stat(file.path.c_str(), &status) == 0;
    const auto temporary = write_beside(file.path, file.pieces, exists ? &status : nullptr, diagnostics);
    if (!temporary) return give_up(0);
    temporaries.push_back(*temporary);
  }
  for (std::size_t k = 0; k < files.size(); ++k)
    if (!move_into_place(temporaries[k], files[k].path, diagnostics)) return give_up(k + 1);
  return true;
}

bool write_program(const std::filesystem::path& path, const std::filesystem::path& base, const AttachedProgram& program,
                   Diagnostics& diagnostics) {
  const rt::NewFile file = rt::create_beside(path.string(), 0777);
  const auto temporary = whole(file, write_copy(file.fd, base, program), path, diagnostics);
  return temporary && move_into_place(*temporary, path, diagnostics);
}

}  // namespace rml
