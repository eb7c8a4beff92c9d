// Text that a terminal only shows. Messages quote what they complain about, and a terminal must obey nothing of that:
// control characters, which can rewrite what stands there, and those that turn the order of what is read are
// written as \u{1b}, bytes that are no text as \xff.
//
// Both the compiler and the runtime pass what they say through here, in one place each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace rml {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

// What UTF-8 text that is not empty begins with: RFC 3629, so neither overlong forms nor surrogates.
inline CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  if (byte(0) < 0x80) return {byte(0), 1, true};
  const std::size_t bytes = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < bytes) return {};
  char32_t value = byte(0) & (0x7Fu >> bytes);
  for (std::size_t k = 1; k < bytes; ++k) {
    if ((byte(k) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(k) & 0x3Fu);
  }
  const char32_t least = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
  if (value < least || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {value, bytes, true};
}

inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    if (!c.valid) return false;
    text.remove_prefix(c.bytes);
  }
  return true;
}

// Controls, marks and overrides of direction, what has no width, separators of lines, and tags.
inline bool is_readable(char32_t c) {
  struct Range {
    char32_t first, last;
  };
  constexpr Range hidden[] = {{0x00, 0x1F},     {0x7F, 0x9F},      {0x61C, 0x61C},   {0x200B, 0x200B},
                              {0x200E, 0x200F}, {0x2028, 0x202E},  {0x2060, 0x206F}, {0xFEFF, 0xFEFF},
                              {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};
  for (const Range& r : hidden)
    if (c >= r.first && c <= r.last) return false;
  return true;
}

inline std::string readable_character(std::string_view text, const CodePoint& c) {
  if (c.valid && is_readable(c.value)) return std::string(text.substr(0, c.bytes));
  char code[16];
  std::snprintf(code, sizeof code, c.valid ? "\\u{%x}" : "\\x%02x",
                c.valid ? static_cast<unsigned>(c.value) : static_cast<unsigned char>(text[0]));
  return code;
}

// Lines and tabs stay.
inline std::string readable(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = first_code_point(text.substr(i));
    if (text[i] == '\n' || text[i] == '\t')
      result += text[i];
    else
      result += readable_character(text.substr(i), c);
    i += c.bytes;
  }
  return result;
}

inline constexpr std::size_t longest_quotation = 200, longest_line = 1000;  // characters

// Finds quotations; looks at nothing again and again.
class Quotations {
 public:
  explicit Quotations(std::string_view text) : text_(text) {}
  // Where the quotation that begins at i ends, with its mark; i where none does. An apostrophe within a word is no
  // mark.
  std::size_t end(std::size_t i) {
    if ((text_[i] != '\'' && text_[i] != '`') || (i > 0 && in_word(i - 1))) return i;
    bool& open = text_[i] == '`' ? no_more_[0] : no_more_[1];
    // Linkers write `name', and begin a line with the next.
    for (std::size_t end = open ? text_.npos : i + 1; end < text_.size(); ++end) {
      if (text_[i] == '`' && text_[end] == '\n') return i;
      if (text_[end] == text_[i] && (text_[i] == '`' || !in_word(end + 1))) return end + 1;
    }
    open = true;
    return i;
  }

 private:
  bool in_word(std::size_t k) const {
    const auto byte = static_cast<unsigned char>(k < text_.size() ? text_[k] : ' ');
    return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') || byte >= 0x80;
  }

  std::string_view text_;
  bool no_more_[2] = {};  // none that is closed, from here on
};

// A message: no quotation, no word and no line of it goes on for ever, and what is quoted stands on one line. Where
// the message itself has one line only, there is no other.
enum class Lines { one, many };
inline std::string readable_message(std::string_view text, Lines lines = Lines::many) {
  std::string result;
  Quotations quotations(text);
  std::size_t word = 0, line = 0;  // characters so far, of the line those that are shown
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = quotations.end(i);
    const bool quoted = end > i;
    std::size_t quotation = 0;
    do {
      const CodePoint c = first_code_point(text.substr(i));
      const bool mark = quoted && (quotation == 0 || i + 1 == end);
      const bool new_line = !quoted && text[i] == '\n' && lines == Lines::many;
      word = quoted || text[i] == ' ' || new_line ? 0 : word + 1;
      const std::size_t length = std::max(word, quotation++);
      const bool beyond = !mark && length > longest_quotation;
      if (new_line)
        result += '\n', line = 0;
      else if (line == longest_line || (line < longest_line && length == longest_quotation + 1 && beyond))
        result += "…", ++line;
      else if (line < longest_line && !beyond)
        result += !quoted && text[i] == '\t' ? "\t" : readable_character(text.substr(i), c), ++line;
      i += c.bytes;
    } while (i < end);
  }
  return result;
}

}  // namespace rml
