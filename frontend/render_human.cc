// Renders diagnostics for people: the message, the source lines with marks, notes and proposed
// changes.
//
//   error[E0401]: clocks do not match
//    --> app.rml:3:7
//     |
//   3 |   o = k * do;
//     |       ^ present at every cycle
//     |           -- present only when bp
//     = help: write `k when bp`
//
// Of a long line (generated programs) only the part around the marks is shown.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "frontend/render.h"
#include "runtime/base/readable.h"

namespace rml {

namespace {

constexpr std::size_t widest_line = 160;

struct Paint {
  bool on = false;
  std::string apply(std::string_view style, const std::string& text) const {
    if (!on || text.empty()) return text;
    return "\033[" + std::string(style) + "m" + text + "\033[0m";
  }
  std::string error(const std::string& s) const { return apply("1;31", s); }
  std::string warning(const std::string& s) const { return apply("1;33", s); }
  std::string frame(const std::string& s) const { return apply("1;34", s); }
  std::string help(const std::string& s) const { return apply("1;32", s); }
  std::string bold(const std::string& s) const { return apply("1", s); }
};

// A source line as shown: one cell per code point, with tabs expanded and unprintable characters
// escaped.
struct Cells {
  std::vector<std::string> cells;
  std::vector<std::size_t> cell_of_byte;  // has one element more than the line has bytes

  explicit Cells(std::string_view line) {
    constexpr int tab_width = 4;
    for (std::size_t i = 0; i < line.size();) {
      const CodePoint c = first_code_point(line.substr(i));
      cell_of_byte.insert(cell_of_byte.end(), c.bytes, cells.size());
      if (line[i] == '\t') {
        cells.insert(cells.end(), tab_width, " ");
      } else if (c.valid && is_readable(c.value)) {
        cells.emplace_back(line.substr(i, c.bytes));
      } else {
        for (const char digit : readable_character(line.substr(i), c)) cells.emplace_back(1, digit);
      }
      i += c.bytes;
    }
    cell_of_byte.push_back(cells.size());
  }

  std::string text(std::size_t begin, std::size_t end) const {
    std::string result;
    for (std::size_t i = begin; i < std::min(end, cells.size()); ++i) result += cells[i];
    return result;
  }
};

struct Mark {
  std::size_t begin = 0, end = 0;  // range of cells
  bool primary = false;
  std::string text;
};

class Renderer {
 public:
  Renderer(const SourceMap& sources, bool color) : sources_(sources), paint_{color} {}

  std::string render(const Diagnostic& d) {
    out_.clear();
    const bool is_error = severity(d.code) == Severity::error;
    const std::string head = std::string(is_error ? "error" : "warning") + "[" + std::string(code_name(d.code)) + "]";
    out_ += (is_error ? paint_.error(head) : paint_.warning(head)) + paint_.bold(": " + d.message) + "\n";
    set_margin(d);
    show_places(d, is_error);
    for (const std::string& note : d.notes) show_note("note", note);
    for (const FixIt& fix : d.fixes) show_fix(fix);
    return out_;
  }

 private:
  std::string margin(const std::string& number = {}) const {
    return paint_.frame(number + std::string(width_ - number.size(), ' ') + " |");
  }
  void row(const std::string& gutter, const std::string& text) {
    out_ += gutter + (text.empty() ? "" : " " + text) + "\n";
  }

  std::uint32_t line_of(Span span) const { return sources_.line_column(span.file, span.begin).line; }

  void set_margin(const Diagnostic& d) {
    std::uint32_t last = line_of(d.primary.span);
    for (const Label& label : d.secondary) last = std::max(last, line_of(label.span));
    for (const FixIt& fix : d.fixes) last = std::max(last, line_of(fix.span));
    width_ = std::to_string(last).size();
  }

  // Shows the marked lines by file and line. The file of the primary place comes first.
  void show_places(const Diagnostic& d, bool is_error) {
    std::vector<std::uint32_t> files;
    std::map<std::uint32_t, std::vector<std::pair<const Label*, bool>>> labels;
    const auto enter = [&](const Label& label, bool primary) {
      if (label.span.file == 0) return;
      if (std::find(files.begin(), files.end(), label.span.file) == files.end()) files.push_back(label.span.file);
      labels[label.span.file].emplace_back(&label, primary);
    };
    enter(d.primary, true);
    for (const Label& label : d.secondary) enter(label, false);
    for (const std::uint32_t file : files) {
      const std::string arrow = file == d.primary.span.file ? "--> " : "::: ";
      out_ += std::string(width_, ' ') + paint_.frame(arrow) +
              readable(sources_.place(labels[file].front().first->span)) + "\n";
      row(margin(), {});
      std::map<std::uint32_t, std::vector<std::pair<const Label*, bool>>> lines;
      for (const auto& entry : labels[file]) lines[line_of(entry.first->span)].push_back(entry);
      std::uint32_t shown = 0;
      for (const auto& [line, entries] : lines) {
        if (shown != 0 && line > shown + 1) out_ += paint_.frame("...") + "\n";
        show_line(file, line, entries, is_error);
        shown = line;
      }
    }
  }

  // Returns the cells that a label marks, in a piece of its line that begins at byte offset
  // `begin`.
  Mark mark(const Label& label, bool primary, const Cells& cells, std::uint32_t begin) const {
    const std::size_t bytes = cells.cell_of_byte.size() - 1;
    const auto cell = [&](std::uint32_t offset) {
      return cells.cell_of_byte[std::min<std::size_t>(offset > begin ? offset - begin : 0, bytes)];
    };
    Mark result{cell(label.span.begin), cell(label.span.end), primary, label.text};
    const Span end{label.span.file, label.span.end, label.span.end};
    if (line_of(end) != line_of(label.span)) result.end = cells.cells.size();
    result.end = std::max(result.end, result.begin + 1);
    return result;
  }

  void show_line(std::uint32_t file, std::uint32_t line, const std::vector<std::pair<const Label*, bool>>& labels,
                 bool is_error) {
    const std::uint32_t line_begin = sources_.line_begin(file, line);
    const std::string_view whole = sources_.line(file, line);
    const std::string_view piece = piece_round(whole, anchor(labels) - std::min(anchor(labels), line_begin));
    const auto skipped = static_cast<std::uint32_t>(piece.data() - whole.data());
    const Cells cells(piece);
    std::vector<Mark> marks;
    for (const auto& [label, primary] : labels) {
      const std::uint32_t at = label->span.begin;
      const bool shown = at >= line_begin + skipped && at <= line_begin + skipped + piece.size();
      if (shown) marks.push_back(mark(*label, primary, cells, line_begin + skipped));
    }
    std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
      return std::tie(a.begin, a.end, a.text) < std::tie(b.begin, b.end, b.text);
    });
    const auto [begin, end] = window(cells, marks);
    const std::string lead = begin > 0 || skipped > 0 ? "…" : "";
    const bool cut = end < cells.cells.size() || skipped + piece.size() < whole.size();
    row(margin(std::to_string(line)), lead + cells.text(begin, end) + (cut ? "…" : ""));
    show_marks(marks, begin, end, lead.empty() ? 0 : 1, is_error);
  }

  static std::uint32_t anchor(const std::vector<std::pair<const Label*, bool>>& labels) {
    for (const auto& [label, primary] : labels) {
      if (primary) return label->span.begin;
    }
    return labels.front().first->span.begin;
  }

  // Returns a piece of a long line around byte `at` that is long enough for the shown part.
  static std::string_view piece_round(std::string_view line, std::size_t at) {
    constexpr std::size_t longest_code_point = 4;
    constexpr std::size_t reach = widest_line * longest_code_point;
    if (line.size() <= 2 * reach) return line;
    at = std::min(at, line.size());
    std::size_t begin = at - std::min(at, reach);
    while (begin > 0 && begin < line.size() && (static_cast<unsigned char>(line[begin]) & 0xC0) == 0x80) ++begin;
    std::size_t end = std::min(at + reach, line.size());
    while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) ++end;
    return line.substr(begin, end - begin);
  }

  // Returns the range of cells to show of a long line: around the primary mark, or else the first
  // mark.
  static std::pair<std::size_t, std::size_t> window(const Cells& cells, const std::vector<Mark>& marks) {
    constexpr std::size_t before_mark = 40;
    if (cells.cells.size() <= widest_line) return {0, cells.cells.size()};
    const auto primary = std::find_if(marks.begin(), marks.end(), [](const Mark& m) { return m.primary; });
    const std::size_t at = (primary == marks.end() ? marks.front() : *primary).begin;
    const std::size_t begin = at + before_mark < widest_line ? 0 : at - before_mark;
    return {begin, std::min(begin + widest_line, cells.cells.size())};
  }

  // The rightmost mark has its text beside it. The texts of the others are on lines below, from
  // right to left.
  void show_marks(const std::vector<Mark>& all, std::size_t begin, std::size_t end, std::size_t shift, bool is_error) {
    std::vector<Mark> marks;
    for (Mark m : all) {
      if (m.begin < begin || m.begin > end) continue;
      m.begin = m.begin - begin + shift;
      m.end = std::min(m.end, std::max(end, begin + m.begin + 1)) - begin + shift;
      m.end = std::max(m.end, m.begin + 1);
      marks.push_back(std::move(m));
    }
    if (marks.empty()) return;
    std::string line;
    std::vector<const Mark*> owners;
    for (const bool primary : {false, true}) {
      for (const Mark& m : marks) {
        if (m.primary != primary) continue;
        if (owners.size() < m.end) owners.resize(m.end, nullptr);
        for (std::size_t i = m.begin; i < m.end; ++i) owners[i] = &m;
      }
    }
    for (const Mark* owner : owners)
      line += owner == nullptr ? " " : painted(*owner, owner->primary ? "^" : "-", is_error);
    const bool beside =
        std::all_of(marks.begin(), marks.end() - 1, [&](const Mark& m) { return m.end <= marks.back().begin; });
    if (beside && !marks.back().text.empty()) line += " " + painted(marks.back(), marks.back().text, is_error);
    row(margin(), line);
    for (std::size_t i = marks.size() - (beside ? 1 : 0); i-- > 0;) {
      if (!marks[i].text.empty()) row(margin(), hanging(marks, i, is_error));
    }
  }

  // Returns `|   text`, with bars under the marks further left whose texts follow below.
  std::string hanging(const std::vector<Mark>& marks, std::size_t at, bool is_error) const {
    std::string result;
    std::size_t column = 0;
    for (std::size_t i = 0; i < at; ++i) {
      if (marks[i].text.empty() || marks[i].begin < column || marks[i].begin >= marks[at].begin) continue;
      result += std::string(marks[i].begin - column, ' ') + painted(marks[i], "|", is_error);
      column = marks[i].begin + 1;
    }
    return result + std::string(marks[at].begin - column, ' ') + painted(marks[at], marks[at].text, is_error);
  }

  std::string painted(const Mark& m, const std::string& text, bool is_error) const {
    if (!m.primary) return paint_.frame(text);
    return is_error ? paint_.error(text) : paint_.warning(text);
  }

  void show_note(const std::string& kind, const std::string& note) {
    const std::string indent(width_ + 1, ' ');
    std::string text;
    for (const char c : note) text += c == '\n' ? "\n" + indent + std::string(kind.size() + 4, ' ') : std::string(1, c);
    out_ += indent + paint_.frame("=") + " " + (kind == "help" ? paint_.help(kind) : paint_.bold(kind)) + ": " + text +
            "\n";
  }

  // Shows the line after the change, with the new text underlined.
  void show_fix(const FixIt& fix) {
    show_note("help", fix.title);
    const std::uint32_t line = line_of(fix.span);
    const bool one_line = line_of({fix.span.file, fix.span.end, fix.span.end}) == line;
    const std::string_view old = sources_.line(fix.span.file, line);
    if (fix.span.file == 0 || !one_line || old.size() > widest_line || fix.replacement.find('\n') != std::string::npos)
      return;
    const std::size_t at = fix.span.begin - std::min(fix.span.begin, sources_.line_begin(fix.span.file, line));
    std::string changed(old);
    changed.replace(std::min(at, changed.size()), fix.span.end - fix.span.begin, fix.replacement);
    const Cells cells(changed);
    row(margin(), {});
    row(margin(std::to_string(line)), cells.text(0, cells.cells.size()));
    const std::size_t begin = cells.cell_of_byte[std::min(at, changed.size())];
    const std::size_t end = cells.cell_of_byte[std::min(at + fix.replacement.size(), changed.size())];
    if (end > begin) row(margin(), std::string(begin, ' ') + paint_.help(std::string(end - begin, '+')));
  }

  const SourceMap& sources_;
  Paint paint_;
  std::string out_;
  std::size_t width_ = 1;
};

}  // namespace

std::string render_human(const Diagnostics& diagnostics, const SourceMap& sources, bool color) {
  Renderer renderer(sources, color);
  std::string result;
  for (const Diagnostic& d : shown_diagnostics(diagnostics)) result += renderer.render(d) + "\n";
  return result;
}

}  // namespace rml
