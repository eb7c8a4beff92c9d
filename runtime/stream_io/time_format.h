// Converts times given as texts to seconds since 1970-01-01 00:00:00 UTC, without leap seconds.
//
// A format is that of strptime, without the directives that depend on the time zone of the
// machine; `unix` is a number of seconds. The text may have a fraction after %S and %T.
#pragma once

#include <optional>
#include <string>

namespace rml::rt {

class TimeFormat {
 public:
  // Throws Failure with status 2 if the format does not describe a date. The message begins with
  // `option`.
  TimeFormat(const std::string& option, std::string format);

  // The seconds since 1970 of a text. None if it does not match the format.
  std::optional<double> seconds(std::string text) const;
  // A text that matches the format, as an example in messages.
  std::string example() const;

 private:
  std::string format_;
  std::string to_seconds_;  // the format up to its seconds; empty if it has none
};

}  // namespace rml::rt
