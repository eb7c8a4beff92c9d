// Numbers are converted by std::to_chars, which neither allocates nor uses a locale.
#include "runtime/run/statistics_line.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

namespace rml::rt {
namespace {

class Text {
 public:
  void add(std::string_view text) {
    const std::size_t count = std::min(text.size(), static_cast<std::size_t>(bytes_ + sizeof bytes_ - end_));
    std::memcpy(end_, text.data(), count);
    end_ += count;
  }
  void add(std::int64_t number) {
    char digits[24];
    add({digits, static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, number).ptr - digits)});
  }
  // A number with one digit behind the point.
  void add_tenths(std::int64_t tenths) {
    add(tenths / 10);
    add(".");
    add(tenths % 10);
  }
  std::string_view text() const { return {bytes_, static_cast<std::size_t>(end_ - bytes_)}; }

 private:
  char bytes_[256];
  char* end_ = bytes_;
};

std::int64_t milliseconds(LiveFigures::Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

}  // namespace

void StatisticsLine::print() noexcept {
  const auto now = LiveFigures::Clock::now();
  const std::int64_t rows = figures_.rows_read();
  const std::int64_t passed = std::max<std::int64_t>(milliseconds(now - since_), 1);
  Text line;
  // A progress line on the terminal is erased; it is drawn again when it is due.
  if (::isatty(STDERR_FILENO) == 1) line.add("\r\x1b[K");
  line.add("rows ");
  line.add(rows);
  line.add(", rows/s ");
  line.add_tenths((rows - rows_) * 10'000 / passed);
  line.add(", lag ");
  line.add(std::max<std::int64_t>(rows - figures_.rows_written(), 0));
  line.add(", idle ");
  line.add_tenths(std::max<std::int64_t>(milliseconds(figures_.idle()), 0) / 100);
  line.add(" s");
  if (figures_.keys() >= 0) {
    line.add(", keys ");
    line.add(figures_.keys());
  }
  if (figures_.bad_rows() >= 0) {
    line.add(", bad rows ");
    line.add(figures_.bad_rows());
  }
  if (figures_.missed_ticks() >= 0) {
    line.add(", missed ticks ");
    line.add(figures_.missed_ticks());
  }
  line.add("\n");
  since_ = now;
  rows_ = rows;
  // Standard error may be closed or full; the run does not depend on it.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.text().data(), line.text().size());
}

}  // namespace rml::rt
