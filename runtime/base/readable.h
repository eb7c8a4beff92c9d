// Makes text safe for a terminal. Messages quote their input, and a terminal must not obey
// anything in it. Control characters, which can overwrite other text, and characters that change
// the direction of text are written as \u{1b}; bytes that are not valid text are written as \xff.
//
// The compiler and the runtime each pass all their messages through these functions in one place.
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

// The first code point of UTF-8 text that is not empty, according to RFC 3629: overlong forms and
// surrogates are invalid.
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

// Where a text may be cut to at most `most` bytes, of which it has more: before a character, or at `most` bytes if they
// are no text.
inline std::size_t cut_before_character(std::string_view text, std::size_t most) {
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return end == 0 ? most : end;
}

inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    if (!c.valid) return false;
    text.remove_prefix(c.bytes);
  }
  return true;
}

// False for control characters, direction marks and overrides, characters without width, line
// separators and tags.
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

// Replaces control characters, but keeps line ends and tabs.
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

inline constexpr std::size_t longest_quotation = 200, longest_line = 1000;  // limits, in characters

// Finds quotations in a text, in linear time overall.
class Quotations {
 public:
  explicit Quotations(std::string_view text) : text_(text) {}
  // The end of the quotation that begins at i, after its closing mark; i if none begins there. An
  // apostrophe within a word is not a mark.
  std::size_t end(std::size_t i) {
    if ((text_[i] != '\'' && text_[i] != '`') || (i > 0 && in_word(i - 1))) return i;
    bool& open = text_[i] == '`' ? no_more_[0] : no_more_[1];
    // Linkers quote as in `name', so a quotation with a backquote must end on its line.
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
  bool no_more_[2] = {};  // no further quotation is closed after this point
};

// Shortens and escapes a message: long quotations, words and lines are cut, and each quotation
// stays on one line. With Lines::one the whole message stays on one line.
enum class Lines { one, many };
inline std::string readable_message(std::string_view text, Lines lines = Lines::many) {
  std::string result;
  Quotations quotations(text);
  // characters of the current word; characters shown of the current line
  std::size_t word = 0, line = 0;
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
