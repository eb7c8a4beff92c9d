// Prints chronograms with aligned columns, and reads them; errors name the place.
//
// A cell is a run of characters without spaces, so columns are found by splitting at spaces and
// alignment has no meaning. Rows are returned in the order of the requested ports, whatever their
// order in the text. All rows must have the same number of cycles.
#include "semantics/reference/chronogram.h"

#include <algorithm>

#include "semantics/values/read_element.h"

namespace rml {

namespace {

std::string cell_text(const Cell& cell) {
  switch (cell.presence) {
    case Presence::present:
      return to_string(cell.value);
    case Presence::absent:
      return ".";
    case Presence::undetermined:
      return "?";
  }
  return "?";
}

// The number of visible characters: UTF-8 continuation bytes do not count.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

constexpr std::string_view blanks = " \t\r";

class Reader {
 public:
  Reader(const std::string& text, const std::vector<ChronogramPort>& ports, std::string& error)
      : text_(text), ports_(ports), error_(error), chronogram_(ports.size()), seen_(ports.size()) {
    for (std::size_t i = 0; i < ports.size(); ++i) chronogram_[i].name = ports[i].name;
  }

  std::optional<Chronogram> run() {
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      ++line_;
      if (!read_line(std::string_view(text_).substr(begin, end - begin))) return std::nullopt;
      begin = end + 1;
    }
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      if (!seen_[i]) return fail("no row for '" + ports_[i].name + "'");
    }
    return std::move(chronogram_);
  }

 private:
  std::nullopt_t fail(const std::string& message) {
    error_ = message;
    return std::nullopt;
  }
  bool fail_at(std::size_t offset, const std::string& message) {
    error_ = "line " + std::to_string(line_) + ", column " + std::to_string(offset + 1) + ": " + message;
    return false;
  }

  bool read_line(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos || line.substr(begin).starts_with("--")) return true;
    const std::size_t bar = line.find('|');
    if (bar == std::string_view::npos) return fail_at(begin, "expected 'NAME | CELLS'");
    std::string_view name = line.substr(begin, bar - begin);
    name = name.substr(0, name.find_last_not_of(blanks) + 1);
    const auto port =
        std::find_if(ports_.begin(), ports_.end(), [&](const ChronogramPort& p) { return p.name == name; });
    if (port == ports_.end()) return fail_at(begin, "no stream is called '" + std::string(name) + "' here" + known());
    const auto index = static_cast<std::size_t>(port - ports_.begin());
    if (seen_[index]) return fail_at(begin, "a second row for '" + port->name + "'");
    seen_[index] = true;
    return read_cells(line, bar + 1, *port, chronogram_[index].cells);
  }

  bool read_cells(std::string_view line, std::size_t at, const ChronogramPort& port, std::vector<Cell>& cells) {
    while ((at = line.find_first_not_of(blanks, at)) != std::string_view::npos) {
      const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
      const std::string_view text = line.substr(at, end - at);
      Cell cell;
      if (text == ".") {
        cell.presence = Presence::absent;
      } else if (text != "?") {
        auto value = read_tensor(port.dtype, port.shape, text);
        if (!value) {
          return fail_at(at,
                         "'" + std::string(text) + "' is not a value of type " + type_string(port.dtype, port.shape));
        }
        cell = {Presence::present, std::move(*value)};
      }
      cells.push_back(std::move(cell));
      at = end;
    }
    if (!cycles_) cycles_ = cells.size();
    if (cells.size() == *cycles_) return true;
    return fail_at(line.find_last_not_of(blanks), "this row has " + std::to_string(cells.size()) +
                                                      " cycles, the ones above " + std::to_string(*cycles_));
  }

  std::string known() const {
    std::string text;
    for (const ChronogramPort& port : ports_) text += (text.empty() ? " (known: " : ", ") + port.name;
    return text.empty() ? "" : text + ")";
  }

  const std::string& text_;
  const std::vector<ChronogramPort>& ports_;
  std::string& error_;
  Chronogram chronogram_;
  std::vector<bool> seen_;
  std::optional<std::size_t> cycles_;
  int line_ = 0;
};

}  // namespace

std::string print_chronogram(const Chronogram& chronogram) {
  std::size_t name_width = 0;
  std::vector<std::size_t> widths;
  std::vector<std::vector<std::string>> cells;
  for (const ChronogramRow& row : chronogram) {
    name_width = std::max(name_width, width(row.name));
    widths.resize(std::max(widths.size(), row.cells.size()));
    std::vector<std::string>& texts = cells.emplace_back();
    for (const Cell& cell : row.cells) texts.push_back(cell_text(cell));
    for (std::size_t i = 0; i < texts.size(); ++i) widths[i] = std::max(widths[i], width(texts[i]));
  }
  std::string text;
  for (std::size_t r = 0; r < chronogram.size(); ++r) {
    const std::string& name = chronogram[r].name;
    text += name + std::string(name_width - width(name), ' ') + " |";
    for (std::size_t i = 0; i < cells[r].size(); ++i) {
      text += std::string(1 + widths[i] - width(cells[r][i]), ' ') + cells[r][i];
    }
    text += "\n";
  }
  return text;
}

std::optional<Chronogram> read_chronogram(const std::string& text, const std::vector<ChronogramPort>& ports,
                                          std::string& error) {
  return Reader(text, ports, error).run();
}

}  // namespace rml
