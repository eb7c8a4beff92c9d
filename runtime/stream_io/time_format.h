// Times as texts: seconds since 1970-01-01 00:00:00 UTC, leap seconds not counted.
//
// A format is that of strptime, without what depends on the zone of the machine; `unix` are seconds as a number.
// After %S and %T the text may have a fraction.
#pragma once

#include <optional>
#include <string>

namespace rml::rt {

class TimeFormat {
 public:
  // Throws Failure with status 2, headed by `option`, for what is no format of a date.
  TimeFormat(const std::string& option, std::string format);

  // Nothing: the text does not fit.
  std::optional<double> seconds(std::string text) const;
  // A text that fits.
  std::string example() const;

 private:
  std::string format_;
  std::string to_seconds_;  // the format up to its seconds; empty: it has none
};

}  // namespace rml::rt
