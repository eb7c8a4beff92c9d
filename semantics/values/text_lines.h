// Reads a form of the compiler as text, line by line; shared by read_core, read_schedule and
// read_steps.
//
// A cursor moves over the current line. next() moves to the next line with contents, skipping
// blank lines and lines that begin with `--`; it is an error if the current line is not fully
// read. The first fault is stored with its place in the text. After a fault every line is at its
// end and reads yield defaults, so a reader need not check each step; a loop must check ok().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rml {

// An error in a text, and its place in bytes from the beginning.
struct TextFault {
  std::size_t offset = 0;
  std::string message;
};

// The message "line 3, column 7: expected a type".
std::string to_string(const TextFault&, std::string_view text);

std::string form_line(std::string_view name);

class TextLines {
 public:
  explicit TextLines(std::string_view text) : text_(text) {}

  // False at the end of the text and after a fault.
  bool next();

  // `form NAME 1`, the first line of a complete text.
  bool at_form() { return text_.substr(at_, end_ - at_).starts_with("form "); }
  void expect_form(std::string_view name);

  bool ok() const { return fault_.message.empty(); }
  const TextFault& fault() const { return fault_; }
  // Reports a fault at the last token read.
  void fail(const std::string& message) { fail_at(token_, message); }
  void fail_at(std::size_t place, const std::string& message);
  // Reports "expected a type, found …" at the next token.
  void fail_expecting(std::string_view what);
  // place: position of the token read last; next_place: position of the next one.
  std::size_t place() const { return token_; }
  std::size_t next_place() const { return at_; }
  // Treats everything from `place` on as the last token read.
  void joined_from(std::size_t place) { token_ = place; }

  bool at_end() const { return at_ >= end_; }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool at_word() const;
  bool next_is(std::string_view token) const;  // true if take() would consume it
  // Consumes the text if it comes next. A word matches only as a whole.
  bool take(std::string_view token);
  void expect(std::string_view token);
  std::string word(const char* what);
  // Takes the text up to the next space. Texts of constants contain no spaces.
  std::string_view chunk(const char* what);
  // Takes a word that may contain signs.
  std::string_view number(const char* what);
  // Takes a word, or any text in quotation marks.
  std::string name();
  template <class T>
  T integer(const char* what);

 private:
  void skip();
  std::string_view token(std::size_t end, const char* what);

  std::string_view text_;
  std::size_t at_ = 0, end_ = 0;  // positions in the current line
  std::size_t next_ = 0;          // position where the next line begins
  std::size_t token_ = 0;
  TextFault fault_;
};

}  // namespace rml
