// Draws the progress line only when it is due, so that a call of `tick` costs one reading of the
// clock.
#include "runtime/run/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "runtime/stream_io/scalar_text.h"

namespace rml::rt {
namespace {

std::string duration_text(double seconds) {
  char text[32];
  const auto whole = static_cast<long long>(std::ceil(seconds));
  if (whole < 3600) {
    std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return text;
}

std::string bar_text(double fraction) {
  constexpr int width = 20;
  const int full = static_cast<int>(fraction * width);
  char percent[8];
  std::snprintf(percent, sizeof percent, " %3d%%", static_cast<int>(fraction * 100));
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(width - full), '.') + "]" + percent;
}

}  // namespace

Progress::Progress(const Options& options, const Row& outputs)
    : terminal_(isatty(STDERR_FILENO) == 1), start_(Clock::now()), outputs_(outputs), monitored_(options.monitored) {
  enabled_ = !options.quiet && (options.progress == When::always || (options.progress == When::automatic && terminal_));
  next_ = start_ + std::chrono::milliseconds(terminal_ ? 200 : 2000);
}

void Progress::draw_when_due(std::int64_t cycles, double fraction) {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(terminal_ ? 100 : 2000);
  draw(cycles, fraction);
}

void Progress::draw(std::int64_t cycles, double fraction) {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  std::string line;
  if (fraction >= 0) line += bar_text(std::fmin(fraction, 1.0)) + "  ";
  char text[64];
  std::snprintf(text, sizeof text, "%lld cycles  %.0f cycles/s", static_cast<long long>(cycles),
                seconds > 0 ? static_cast<double>(cycles - before_) / seconds : 0.0);
  line += text;
  if (fraction > 0 && fraction < 1) line += "  ETA " + duration_text(seconds / fraction * (1 - fraction));
  for (const std::uint32_t i : monitored_) {
    char value[longest_scalar];
    line += std::string("  ") + outputs_.port(i).name + " ";
    if (outputs_.is_present(i)) {
      line.append(value, format_scalar(outputs_.port(i).dtype, outputs_.data(i), value, BoolText::letter));
    } else {
      line += ".";
    }
  }
  std::fprintf(stderr, terminal_ ? "\r\x1b[K%s" : "%s\n", line.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::finish(std::int64_t cycles) {
  if (!enabled_) return;
  draw(cycles, -1);
  if (terminal_ && drawn_) std::fputc('\n', stderr);
  enabled_ = false;
}

}  // namespace rml::rt
