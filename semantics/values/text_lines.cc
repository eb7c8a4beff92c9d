// Splits text into lines and tokens, and computes line and column of a fault.
#include "semantics/values/text_lines.h"

#include <algorithm>
#include <charconv>

namespace rml {

namespace {

bool word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

constexpr std::uint32_t version = 1;

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }

}  // namespace

std::string to_string(const TextFault& fault, std::string_view text) {
  const std::string_view before = text.substr(0, fault.offset);
  // Without a line end rfind returns npos, and npos + 1 is 0: the whole text.
  const std::string_view line = before.substr(before.rfind('\n') + 1);
  return "line " + std::to_string(std::ranges::count(before, '\n') + 1) + ", column " +
         std::to_string(std::ranges::count_if(line, begins_character) + 1) + ": " + fault.message;
}

std::string form_line(std::string_view name) {
  return "form " + std::string(name) + " " + std::to_string(version) + "\n";
}

void TextLines::expect_form(std::string_view name) {
  expect("form");
  if (!take(name)) fail_expecting("'" + std::string(name) + "'");
  if (integer<std::uint32_t>("a version") != version)
    fail("version " + std::to_string(version) + " of the form " + std::string(name) + " is expected");
}

bool TextLines::next() {
  if (ok() && !at_end()) fail_at(at_, "the line has more words than expected");
  while (ok() && next_ < text_.size()) {
    at_ = token_ = next_;
    end_ = std::min(text_.find('\n', at_), text_.size());
    next_ = std::min(end_ + 1, text_.size());
    skip();
    token_ = at_;
    if (!at_end() && !text_.substr(at_, end_ - at_).starts_with("--")) return true;
    at_ = end_;
  }
  if (ok()) at_ = end_ = token_ = text_.size();
  return false;
}

void TextLines::fail_at(std::size_t place, const std::string& message) {
  if (ok()) fault_ = {place, message};
  at_ = end_;
}

void TextLines::fail_expecting(std::string_view what) {
  constexpr std::size_t most = 12;
  const std::string found =
      at_end() ? "the end of the line" : "'" + std::string(text_.substr(at_, std::min(most, end_ - at_))) + "'";
  fail_at(at_, "expected " + std::string(what) + ", found " + found);
}

bool TextLines::at_word() const { return word_char(peek()); }

bool TextLines::next_is(std::string_view token) const {
  if (!text_.substr(at_, end_ - at_).starts_with(token)) return false;
  const std::size_t end = at_ + token.size();
  return !word_char(token.back()) || end >= end_ || !word_char(text_[end]);
}

bool TextLines::take(std::string_view token) {
  if (!next_is(token)) return false;
  token_ = at_;
  at_ += token.size();
  skip();
  return true;
}

void TextLines::expect(std::string_view token) {
  if (!take(token)) fail_expecting("'" + std::string(token) + "'");
}

std::string TextLines::word(const char* what) {
  std::size_t end = at_;
  while (end < end_ && word_char(text_[end])) ++end;
  return std::string(token(end, what));
}

std::string_view TextLines::chunk(const char* what) {
  return token(std::min(text_.substr(0, end_).find_first_of(" \t\r", at_), end_), what);
}

std::string_view TextLines::number(const char* what) {
  std::size_t end = at_;
  while (end < end_ && (word_char(text_[end]) || text_[end] == '-' || text_[end] == '+')) ++end;
  return token(end, what);
}

std::string TextLines::name() {
  if (peek() != '"') return word("a name");
  token_ = at_;
  std::string text;
  for (++at_; at_ < end_ && text_[at_] != '"'; ++at_) {
    const bool escaped = text_[at_] == '\\' && at_ + 1 < end_;
    if (escaped) ++at_;
    text += escaped && text_[at_] == 'n' ? '\n' : text_[at_];
  }
  if (at_end()) {
    fail("the string is not closed");
    return {};
  }
  ++at_;
  skip();
  return text;
}

template <class T>
T TextLines::integer(const char* what) {
  T value{};
  const auto result = std::from_chars(text_.data() + at_, text_.data() + end_, value);
  if (result.ec != std::errc()) {
    fail_expecting(what);
    return T{};
  }
  token_ = at_;
  at_ = static_cast<std::size_t>(result.ptr - text_.data());
  skip();
  return value;
}

template std::uint32_t TextLines::integer(const char*);
template std::uint64_t TextLines::integer(const char*);
template std::int64_t TextLines::integer(const char*);

void TextLines::skip() {
  while (at_ < end_ && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
}

std::string_view TextLines::token(std::size_t end, const char* what) {
  if (end == at_) {
    fail_expecting(what);
    return {};
  }
  const std::string_view text = text_.substr(at_, end - at_);
  token_ = at_;
  at_ = end;
  skip();
  return text;
}

}  // namespace rml
