// strptime accepts days that a month does not have, so the date is checked afterwards. It does
// not support fractions, so these are removed from the text before.
#include "runtime/stream_io/time_format.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <ctime>

#include "runtime/base/failure.h"
#include "runtime/base/rmlrt.h"
#include "runtime/stream_io/scalar_text.h"

namespace rml::rt {
namespace {

constexpr std::string_view plain_seconds = "unix";
constexpr std::string_view known = "YymdeHIMSpjbBhFTRDnz%t";
constexpr std::string_view with_a_year = "YyFD";

struct tm no_time() {
  struct tm time = {};
  time.tm_mday = 1;
  return time;
}

// True if the calendar has this date and its year has four digits.
bool is_date(struct tm time) {
  const struct tm given = time;
  time.tm_sec = 0;
  if (given.tm_year + 1900 < 1000 || given.tm_sec > 60) return false;
  timegm(&time);
  return time.tm_year == given.tm_year && time.tm_mon == given.tm_mon && time.tm_mday == given.tm_mday;
}

// Removes `.25` or `,25` from the text and returns its value.
double cut_fraction(std::string& text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
  if (end == at + 1) return 0;
  const std::string digits = "0." + text.substr(at + 1, end - at - 1);
  double fraction = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), fraction);
  text.erase(at, end - at);
  return fraction;
}

}  // namespace

TimeFormat::TimeFormat(const std::string& option, std::string format) : format_(std::move(format)) {
  if (format_ == plain_seconds) return;
  // `%S.%f` is Python's notation for seconds with a fraction.
  if (const std::size_t fraction = format_.find("%S.%f"); fraction != std::string::npos) format_.erase(fraction + 2, 3);
  bool has_year = false;
  for (std::size_t at = format_.find('%'); at != std::string::npos; at = format_.find('%', at + 2)) {
    const std::string directive = format_.substr(at, 2);
    const char letter = directive.size() < 2 ? '\0' : directive[1];
    if (letter == '\0' || known.find(letter) == known.npos)
      throw Failure(
          option + ": '" + directive + "' is none of %Y %m %d %H %M %S %y %j %b %B %e %I %p %F %T %R %D %z %%",
          exit_usage);
    has_year = has_year || with_a_year.find(letter) != with_a_year.npos;
    if (letter == 'S' || letter == 'T') to_seconds_ = format_.substr(0, at + 2);
  }
  if (!has_year)
    throw Failure(option + ": a format needs the year, as in %Y-%m-%dT%H:%M:%S, or it is 'unix': seconds since 1970",
                  exit_usage);
}

std::optional<double> TimeFormat::seconds(std::string text) const {
  if (format_ == plain_seconds) {
    double value = 0;
    const bool fits = parse_whole_scalar(RML_F64, text, &value) == Parsed::ok && std::isfinite(value);
    return fits ? std::optional(value) : std::nullopt;
  }
  double fraction = 0;
  struct tm time = no_time();
  if (const char* end = to_seconds_.empty() ? nullptr : strptime(text.c_str(), to_seconds_.c_str(), &time))
    if (*end == '.' || *end == ',') fraction = cut_fraction(text, static_cast<std::size_t>(end - text.c_str()));
  time = no_time();
  const char* const end = strptime(text.c_str(), format_.c_str(), &time);
  if (end == nullptr || end != text.c_str() + text.size() || !is_date(time)) return std::nullopt;
  const long east = time.tm_gmtoff;
  return static_cast<double>(timegm(&time) - east) + fraction;
}

std::string TimeFormat::example() const {
  if (format_ == plain_seconds) return "1767139199";
  struct tm time = no_time();
  strptime("2025-12-30 23:59:59", "%Y-%m-%d %H:%M:%S", &time);
  char text[256];
  return {text, std::strftime(text, sizeof text, format_.c_str(), &time)};
}

}  // namespace rml::rt
