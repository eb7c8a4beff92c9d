// See keys.h.
#include "runtime/keys/keys.h"

#include <cstring>

#include "runtime/stream_io/row.h"
#include "runtime/stream_io/scalar_text.h"

namespace rml::rt {

std::optional<std::uint32_t> Keys::number(std::string_view text) {
  if (!dtype_) return table_.number(text);
  std::uint64_t value = 0;
  if (parse_whole_scalar(*dtype_, text, &value) != Parsed::ok) return std::nullopt;
  return table_.number(value);
}

std::uint32_t Keys::number_of(const void* value) {
  std::uint64_t word = 0;
  std::memcpy(&word, value, dtype_bytes(*dtype_));
  return table_.number(*dtype_ == RML_BOOL ? std::uint64_t{word != 0} : word);
}

std::string Keys::text(std::uint32_t number) const {
  if (!dtype_) return std::string(table_.text(number));
  const std::uint64_t word = table_.word(number);
  char text[longest_scalar];
  return {text, format_scalar(*dtype_, &word, text, BoolText::word)};
}

void Keys::put(std::uint32_t number, void* to) const {
  const std::uint64_t word = table_.word(number);
  std::memcpy(to, &word, dtype_bytes(*dtype_));
}

}  // namespace rml::rt
