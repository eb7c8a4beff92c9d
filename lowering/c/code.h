// Lines of C: indented, and broken where they are longer than a page is wide.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rml::c99 {

inline constexpr std::size_t page_columns = 100;

// The text as a C comment. It may contain comment delimiters, because it can be a piece of the program.
std::string comment_of(const std::string& text);

class Code {
 public:
  void line(const std::string& text);
  void blank();
  void comment(const std::string& text);
  void open(const std::string& head) {  // Writes the line "HEAD {" and indents what follows.
    line(head.empty() ? "{" : head + " {");
    ++depth_;
  }
  void close(const std::string& tail = "}") {
    --depth_;
    line(tail);
  }
  // Closes a block and opens the next one, for example with the line `} else {`.
  void reopen(const std::string& middle) {
    close(middle);
    ++depth_;
  }
  // Writes a table: numbers between braces, as many per line as fit.
  void table(const std::string& head, const std::vector<std::string>& numbers);
  void append(const Code& lines);  // appends `lines`, indented to the current depth
  void raw(const std::string& text) { text_ += text; }
  // Removes declarations `const T name = …;` after line `from` whose variables are never named again.
  void drop_unused(std::size_t from, const std::vector<std::string>& names);
  // Marks variables after line `from` that are only written, `T x = …;`, as intentionally unread.
  void excuse_unread(std::size_t from, const std::vector<std::string>& names);
  std::size_t size() const { return text_.size(); }
  void truncate(std::size_t size) { text_.resize(size); }
  const std::string& text() const { return text_; }
  std::size_t columns_left() const;

 private:
  std::string text_;
  std::size_t depth_ = 0;
};

}  // namespace rml::c99
