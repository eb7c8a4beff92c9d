// Formats the place of an error for messages.
#include "runtime/stream_io/row_source.h"

namespace rml::rt {

std::string place_text(const std::string& file, const Place& place) {
  const auto number = [](std::int64_t n) { return n > 0 ? ":" + std::to_string(n) : std::string(); };
  return file + number(place.line) + number(place.column);
}

}  // namespace rml::rt
