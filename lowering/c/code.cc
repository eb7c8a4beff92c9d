// Breaks long lines after a comma or before an operator, at the last place that fits.
#include "lowering/c/code.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "lowering/signature.h"
#include "runtime/base/readable.h"

namespace rml::c99 {

namespace {

constexpr std::size_t indent = 2, continued = 4, fewest = 40;

// The last place outside quotes at which the line may be broken; 0: none.
std::size_t break_before(std::string_view text, std::size_t most) {
  std::size_t found = 0, operation = 0, assigned = 0;
  bool quoted = false;
  for (std::size_t k = 1; k < text.size() && k <= most; ++k) {
    if (text[k] == '"' && text[k - 1] != '\\') quoted = !quoted;
    if (quoted || text[k - 1] != ' ') continue;
    const std::string_view rest = text.substr(k);
    if (k >= 2 && (text[k - 2] == ',' || text[k - 2] == ';')) found = k;
    if (k >= 2 && text[k - 2] == '=') assigned = k;
    for (const std::string_view sign : {"? ", ": ", "&& ", "|| ", "+ ", "- "})
      if (rest.starts_with(sign)) operation = k;
  }
  const std::size_t best = operation > most / 2 ? operation : std::max(found, operation);
  return best > 0 ? best : assigned;
}

// The text with comments and with fields of states replaced by blanks. Fields cannot be confused with variables.
std::string without_comments_and_fields(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("/-", at)) != std::string::npos; ++at) {
    std::size_t end = at;
    if (text.compare(at, 2, "/*") == 0)
      end = std::min(text.find("*/", at), text.size() - 2) + 2;
    else if (text.compare(at, 2, "->") == 0)
      for (end += 2; end < text.size() && is_of_word(text[end]);) ++end;
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(at), text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
  }
  return text;
}

// The position after the index in brackets, if there is one.
std::size_t behind_index(std::string_view text, std::size_t at) {
  std::size_t open = 0;
  for (; at < text.size() && (text[at] == '[' || open > 0); ++at) {
    if (text[at] == '[') ++open;
    if (text[at] == ']') --open;
  }
  return at;
}

struct Word {
  std::size_t count = 0;
  std::size_t writes = 0;  // declarations and assignments: `T x[3];`, `x = …` or `x[i] += …`
  // The blank before the word's first occurrence followed by ` =` or `[`.
  std::size_t declared = std::string_view::npos;
};
using Words = std::map<std::string_view, Word>;

void count_write(std::string_view text, std::size_t at, std::size_t end, Word& word) {
  if (at == 0 || text[at - 1] != ' ') return;
  const std::size_t behind = behind_index(text, end);
  const std::string_view sign = text.substr(behind, 3);
  const bool set = sign == " = " || sign == " =\n" || sign == " +=" || sign == " *=";
  if (set || (behind > end && sign.starts_with(";"))) ++word.writes;
  if (word.declared == std::string_view::npos && (behind > end || sign.starts_with(" ="))) word.declared = at - 1;
}

Words words_of(std::string_view text) {
  Words words;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
    end = at + 1;
    if (!is_of_word(text[at])) continue;
    while (end < text.size() && is_of_word(text[end])) ++end;
    Word& word = words[text.substr(at, end - at)];
    ++word.count;
    count_write(text, at, end, word);
  }
  return words;
}

}  // namespace

// Escapes characters that change the display order, so that a reader sees the order that a compiler reads.
std::string comment_of(const std::string& text) {
  std::string safe;
  for (const char c : readable(text)) {
    const bool ends = !safe.empty() && ((safe.back() == '*' && c == '/') || (safe.back() == '/' && c == '*'));
    if (ends) safe += ' ';
    safe += c;
  }
  return "/* " + safe + " */";
}

void Code::drop_unused(std::size_t from, const std::vector<std::string>& names) {
  for (bool again = true; again;) {
    const std::string text = without_comments_and_fields(text_.substr(from));
    const Words words = words_of(text);
    std::map<std::size_t, std::size_t> unused;  // declarations that are not used: where each begins and ends
    for (const std::string& name : names) {
      const auto found = words.find(name);
      if (found == words.end() || found->second.count != 1) continue;
      const std::size_t at = found->second.declared;
      if (at == std::string::npos || text.compare(at + 1 + name.size(), 3, " = ") != 0) continue;
      const std::size_t begin = text_.rfind('\n', from + at) + 1, end = text_.find(";\n", from + at);
      if (end == std::string::npos || text_.compare(text_.find_first_not_of(' ', begin), 6, "const ") != 0) continue;
      unused[begin] = end + 2;
    }
    for (auto at = unused.rbegin(); at != unused.rend(); ++at) text_.erase(at->first, at->second - at->first);
    again = !unused.empty();
  }
}

void Code::excuse_unread(std::size_t from, const std::vector<std::string>& names) {
  const std::string text = without_comments_and_fields(text_.substr(from));
  const Words words = words_of(text);
  // Texts to insert, by position; they are inserted from the last position to the first.
  std::map<std::size_t, std::string> added;
  for (const std::string& name : names) {
    const auto found = words.find(name);
    if (found == words.end() || found->second.writes != found->second.count) continue;
    const std::size_t declared = found->second.declared;
    const std::size_t line = text_.rfind('\n', from + declared) + 1, end = text_.find(";\n", from + declared) + 2;
    added[end] += text_.substr(line, text_.find_first_not_of(' ', line) - line) + "(void)" + name + ";\n";
  }
  for (auto at = added.rbegin(); at != added.rend(); ++at) text_.insert(at->first, at->second);
}

std::size_t Code::columns_left() const {
  const std::size_t used = depth_ * indent;
  return page_columns > used + fewest ? page_columns - used : fewest;
}

void Code::line(const std::string& text) {
  std::string_view rest = text;
  std::size_t margin = depth_ * indent;
  while (rest.size() + margin > page_columns) {
    const std::size_t at = break_before(rest, margin + fewest < page_columns ? page_columns - margin : fewest);
    if (at == 0 || rest.starts_with("/*")) break;
    std::size_t end = at;
    while (end > 0 && rest[end - 1] == ' ') --end;
    text_ += std::string(margin, ' ') + std::string(rest.substr(0, end)) + "\n";
    rest = rest.substr(at);
    margin = depth_ * indent + continued;
  }
  text_ += std::string(margin, ' ') + std::string(rest) + "\n";
}

void Code::append(const Code& lines) {
  const std::string& text = lines.text_;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    line(text.substr(at, text.find('\n', at) - at));
}

void Code::blank() {
  if (!text_.empty() && !text_.ends_with("\n\n") && !text_.ends_with("{\n")) text_ += "\n";
}

void Code::comment(const std::string& text) { line(comment_of(text)); }

void Code::table(const std::string& head, const std::vector<std::string>& numbers) {
  text_ += head + " = {";
  std::size_t column = page_columns;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const std::string item = numbers[k] + (k + 1 < numbers.size() ? "," : "");
    if (column + item.size() + 1 > page_columns) {
      text_ += "\n  ";
      column = indent;
    } else {
      text_ += " ";
      ++column;
    }
    text_ += item;
    column += item.size();
  }
  text_ += "};\n";
}

}  // namespace rml::c99
