// A form of the compiler as lines of text, read one by one: what read_core, read_schedule and read_steps have in
// common.
//
// A cursor moves over the current line; next() goes to the next one that says something (blank lines and lines that
// begin with `--` do not) and wants nothing to be left of this one. The first fault is kept with its place in the text.
// After it, every line is at its end and reads yield defaults, so that readers need not look at each step whether
// they may go on: a caller that repeats something does so while ok().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rml {

// Why a text is not what it should be, and where: in bytes from its beginning.
struct TextFault {
  std::size_t offset = 0;
  std::string message;
};

// "line 3, column 7: expected a type".
std::string to_string(const TextFault&, std::string_view text);

std::string form_line(std::string_view name);

class TextLines {
 public:
  explicit TextLines(std::string_view text) : text_(text) {}

  // False at the end of the text, and after a fault.
  bool next();

  // `form NAME 1`: what a whole text begins with.
  bool at_form() { return text_.substr(at_, end_ - at_).starts_with("form "); }
  void expect_form(std::string_view name);

  bool ok() const { return fault_.message.empty(); }
  const TextFault& fault() const { return fault_; }
  // At what was read last.
  void fail(const std::string& message) { fail_at(token_, message); }
  void fail_at(std::size_t place, const std::string& message);
  // "expected a type, found …", at what comes next.
  void fail_expecting(std::string_view what);
  // Of what was read last, and of what comes next.
  std::size_t place() const { return token_; }
  std::size_t next_place() const { return at_; }
  // All from there on was one thing, read last.
  void joined_from(std::size_t place) { token_ = place; }

  bool at_end() const { return at_ >= end_; }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool at_word() const;
  bool next_is(std::string_view token) const;  // what take() would consume
  // Consumes the text if it comes next; a word only as a whole.
  bool take(std::string_view token);
  void expect(std::string_view token);
  std::string word(const char* what);
  // Up to the next space: constants have none inside.
  std::string_view chunk(const char* what);
  // A word with signs.
  std::string_view number(const char* what);
  // A word, or anything in quotation marks.
  std::string name();
  template <class T>
  T integer(const char* what);

 private:
  void skip();
  std::string_view token(std::size_t end, const char* what);

  std::string_view text_;
  std::size_t at_ = 0, end_ = 0;  // of the current line
  std::size_t next_ = 0;          // where the next line begins
  std::size_t token_ = 0;
  TextFault fault_;
};

}  // namespace rml
