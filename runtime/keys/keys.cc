// Keys that are values are stored in the table as their 64-bit pattern, in which equal values
// have equal patterns.
#include "runtime/keys/keys.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "runtime/stream_io/row.h"
#include "runtime/stream_io/scalar_text.h"

namespace rml::rt {

Keys::Keys(Memory& memory, std::optional<std::uint8_t> dtype)
    : table_(memory), dtype_(dtype), value_bytes_(dtype ? dtype_bytes(*dtype) : 0) {}

std::optional<std::uint32_t> Keys::number(std::string_view text) {
  if (!dtype_) return table_.number(text);
  std::uint64_t value = 0;
  if (parse_whole_scalar(*dtype_, text, &value) != Parsed::ok) return std::nullopt;
  return table_.number(value);
}

std::uint64_t Keys::word_of(const void* value) const {
  std::uint64_t word = 0;
  copy_value(&word, value, value_bytes_);
  return *dtype_ == RML_BOOL ? std::uint64_t{word != 0} : word;
}

void Keys::numbers_of(const void* values, std::uint32_t count, std::uint32_t* to) {
  std::array<std::uint64_t, 16> words{};
  const char* from = static_cast<const char*>(values);
  for (std::uint32_t done = 0; done < count;) {
    const std::uint32_t few = std::min<std::uint32_t>(count - done, words.size());
    for (std::uint32_t k = 0; k < few; ++k, from += value_bytes_) words[k] = word_of(from);
    table_.numbers(std::span(words).first(few), to + done);
    done += few;
  }
}

std::string Keys::text(std::uint32_t number) const {
  if (!dtype_) return std::string(table_.text(number));
  const std::uint64_t word = table_.word(number);
  char text[longest_scalar];
  return {text, format_scalar(*dtype_, &word, text, BoolText::word)};
}

void Keys::put(std::uint32_t number, void* to) const {
  const std::uint64_t word = table_.word(number);
  std::memcpy(to, &word, value_bytes_);
}

}  // namespace rml::rt
