// Durations on command lines and in addresses: a number and a unit, such as 500ms, 30s, 5min, 1h.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace rml::rt {

// None if the text is not a duration from one millisecond to a year.
std::optional<std::chrono::nanoseconds> duration_of(std::string_view text);
// The reason why it is none; empty if it is one.
std::string complaint_of_duration(const std::string& text);

}  // namespace rml::rt
