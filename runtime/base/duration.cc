// A number without a unit is refused, because other options count seconds or cycles.
#include "runtime/base/duration.h"

#include <charconv>
#include <cstdint>

namespace rml::rt {
namespace {

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr Unit units[] = {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
constexpr double shortest = 1e-3, longest = 365 * 86400.0;

// The duration in seconds; none if the text has another form.
std::optional<double> seconds_of(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  for (const Unit& unit : units)
    if (std::string_view(rest, static_cast<std::size_t>(end - rest)) == unit.name) return number * unit.seconds;
  return std::nullopt;
}

}  // namespace

std::optional<std::chrono::nanoseconds> duration_of(std::string_view text) {
  const auto seconds = seconds_of(text);
  // The comparison is false for NaN.
  if (!seconds || !(*seconds >= shortest && *seconds <= longest)) return std::nullopt;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(*seconds * 1e9));
}

std::string complaint_of_duration(const std::string& text) {
  if (duration_of(text)) return "";
  if (!seconds_of(text))
    return "'" + text + "' is not a duration: give a number and a unit, such as 500ms, 30s, 5min, 1h or 1d";
  return "'" + text + "': must be from 1ms to 365d";
}

}  // namespace rml::rt
