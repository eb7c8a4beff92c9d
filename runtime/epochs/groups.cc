// A table numbers the values in the order of their first rows. A value with a smaller number than
// the next one has had a group, so it is either that of the last row, or it has come back.
#include "runtime/epochs/groups.h"

#include <cstring>

#include "runtime/base/failure.h"
#include "runtime/base/readable.h"
#include "runtime/stream_io/scalar_text.h"

namespace rml::rt {

std::uint32_t Groups::number() const {
  const auto* const value = static_cast<const char*>(row_.data(port_));
  if (numbered_) return *reinterpret_cast<const std::uint32_t*>(value);
  return table_.number(std::string_view(value, dtype_bytes(row_.port(port_).dtype)));
}

std::string Groups::text(std::uint32_t number) const {
  const std::string_view stored = table_.text(number);
  if (numbered_) return readable(std::string(stored));
  std::uint64_t value = 0;
  std::memcpy(&value, stored.data(), stored.size());
  char text[longest_scalar];
  return {text, format_scalar(row_.port(port_).dtype, &value, text, BoolText::letter)};
}

bool Groups::begins(const RowSource& source) {
  const std::uint32_t current = number();
  if (next_ > 0 && current == last_) return false;
  if (current < next_) {
    const std::string name = row_.port(port_).name;
    throw Failure(source.place(port_) + ": --segments-by " + name + ": '" + text(current) + "' comes back after '" +
                  text(last_) + "', but the rows of a group must follow one another; sort the file by '" + name + "'");
  }
  last_ = current;
  next_ = current + 1;
  return true;
}

}  // namespace rml::rt
