// Bad rows are rare, so each is written by a system call of its own: a run that is killed has lost
// none.
#include "runtime/stream_io/bad_rows.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "runtime/base/file_lock.h"
#include "runtime/base/readable.h"

namespace rml::rt {
namespace {

// The beginning of a row for a message.
std::string quoted(std::string_view row) {
  constexpr std::size_t most = 200;
  if (row.size() <= most) return "'" + std::string(row) + "'";
  return "'" + std::string(row.substr(0, cut_before_character(row, most))) + "…'";
}

}  // namespace

BadRows::BadRows(std::string file, bool tells) : file_(std::move(file)), tells_(tells) {}

BadRows::~BadRows() {
  if (fd_ >= 0) ::close(fd_);
}

void BadRows::begin(Beginning beginning, std::int64_t rows) {
  const std::lock_guard lock(mutex_);
  beginning_ = beginning;
  rows_again_ = rows;
}

void BadRows::add(const BadRow& row, std::int64_t good) {
  const std::lock_guard lock(mutex_);
  if (good < rows_again_) {
    end_ += row.row().size() + 1;
    return;
  }
  count_.fetch_add(1, std::memory_order_relaxed);
  if (first_.empty()) {
    first_ = std::string(row.what()) + ": the row is " + quoted(row.row());
    if (tells_) std::fprintf(stderr, "skipped a bad row: %s\n", readable_message(first_).c_str());
  }
  if (file_.empty()) return;
  if (fd_ >= 0) return put(row.row() + "\n");
  waiting_ += row.row();
  waiting_ += '\n';
}

void BadRows::open() {
  const std::lock_guard lock(mutex_);
  if (file_.empty()) return;
  fd_ = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  struct stat status{};
  if (fd_ < 0 || ::fstat(fd_, &status) != 0) throw Failure("cannot write '" + file_ + "': " + std::strerror(errno));
  lock_file(fd_, "'" + file_ + "'");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (beginning_ == Beginning::append) end_ = size;
  if (size < end_)
    throw Failure("cannot continue '" + file_ + "': it has " + std::to_string(size) + " bytes, but " +
                  std::to_string(end_) + " had been written when the state was saved");
  if (::ftruncate(fd_, static_cast<off_t>(end_)) != 0)
    throw Failure("cannot write '" + file_ + "': " + std::strerror(errno));
  put(std::exchange(waiting_, {}));
}

void BadRows::put(std::string_view lines) {
  std::uint64_t at = end_;
  for (std::string_view rest = lines; !rest.empty();) {
    const ssize_t written = ::pwrite(fd_, rest.data(), rest.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(lines);
    rest.remove_prefix(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
  end_ = at;
}

void BadRows::fail(std::string_view row) const {
  const std::string reason = std::strerror(errno);
  std::string text = "cannot write '" + file_ + "': " + reason;
  if (::ftruncate(fd_, static_cast<off_t>(end_)) != 0) text += "; it ends with a part of a row";
  throw StopBetweenCycles(text + "; the run stops after the bad row " + quoted(row.substr(0, row.size() - 1)) +
                          ", which the file does not have");
}

void BadRows::settle() {
  const std::lock_guard lock(mutex_);
  if (fd_ >= 0 && ::fdatasync(fd_) != 0 && errno != EINVAL && errno != EROFS)
    throw Failure("cannot write '" + file_ + "': " + std::strerror(errno));
}

std::string BadRows::summary() const {
  const std::lock_guard lock(mutex_);
  const std::int64_t rows = count();
  if (rows == 0) return "";
  return std::to_string(rows) + (rows == 1 ? " bad row was skipped: " : " bad rows were skipped; the first: ") + first_;
}

}  // namespace rml::rt
