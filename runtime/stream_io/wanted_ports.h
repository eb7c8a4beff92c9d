// The elements of ports by name, for readers of formats whose columns have names, and positions
// in text for messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/stream_io/row.h"

namespace rml::rt {

struct Element {
  std::uint32_t port = 0;
  std::uint64_t index = 0;
};

// The elements of all wanted ports by name: "x", "x[0]", "x[1,2]".
std::unordered_map<std::string, Element> elements_by_name(const Row& row, const std::vector<std::uint32_t>& wanted);

// The description of a port for messages, such as "'x' (f32[3], columns x[0] to x[2])".
std::string expected_columns(const rml_port& port);

// The number of code points, because columns are counted in characters rather than bytes.
std::size_t characters(std::string_view text);

// Computes columns of positions in a line. It continues from the last position if positions come
// in order.
class ColumnCount {
 public:
  void begin(const char* line) { begin_ = at_ = line, column_ = 1; }
  std::int64_t column(const char* at) {
    if (at < at_) begin(begin_);
    column_ += static_cast<std::int64_t>(characters({at_, static_cast<std::size_t>(at - at_)}));
    at_ = at;
    return column_;
  }

 private:
  const char* begin_ = nullptr;
  const char* at_ = nullptr;
  std::int64_t column_ = 1;
};

std::string_view trimmed(std::string_view text);

}  // namespace rml::rt
