// JSON is scanned here instead of parsed, because a number must keep all its digits.
#include "runtime/stream_io/cells/cell_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/stream_io/csv_records.h"
#include "runtime/stream_io/wanted_ports.h"

namespace rml::rt {
namespace {

using nlohmann::json;

constexpr std::string_view no_value = "null";

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

// The position after the string that begins at `at`.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

// Splits the items of an object or array, whose first bracket is the first character.
std::vector<std::string_view> raw_items(std::string_view text) {
  std::vector<std::string_view> items;
  std::size_t begin = 1, depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = string_end(text, at);
      continue;
    }
    const bool closes = c == ']' || c == '}';
    if (c == '[' || c == '{') ++depth;
    if ((c == ',' || closes) && depth == 1) {
      const std::string_view item = without_blanks(text.substr(begin, at - begin));
      if (!item.empty()) items.push_back(item);
      begin = at + 1;
    }
    if (closes) --depth;
    ++at;
  }
  return items;
}

std::string text_of_json(std::string_view raw) {
  return raw.starts_with('"') ? json::parse(raw).get<std::string>() : std::string(raw);
}

}  // namespace

void append_csv_cell(std::string& line, std::string_view text, bool blanks_count) {
  const bool ends = blanks_count && trimmed(text).size() != text.size();
  if (!ends && text.find_first_of("\",\r\n") == text.npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) line.append(c == '"' ? 2 : 1, c);
  line += '"';
}

std::string field_content(std::string_view raw) {
  const std::string_view quoted = trimmed(raw);
  if (quoted.size() < 2 || quoted.front() != '"' || quoted.back() != '"') return std::string(raw);
  std::string text;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    text += quoted[i];
    if (quoted[i] == '"' && i + 2 < quoted.size() && quoted[i + 1] == '"') ++i;
  }
  return text;
}

std::string json_text(std::string_view text) { return json(text).dump(-1, ' ', false, json::error_handler_t::replace); }

std::vector<std::string_view> raw_members(std::string_view line, const std::vector<std::string>& names,
                                          std::string* lacking) {
  std::vector<std::string_view> found(names.size());
  for (const std::string_view item : raw_items(without_blanks(line))) {
    const std::size_t end = string_end(item, 0);
    const std::string name = text_of_json(item.substr(0, end));
    const auto known = std::find(names.begin(), names.end(), name);
    if (known != names.end())
      found[static_cast<std::size_t>(known - names.begin())] = without_blanks(item.substr(item.find(':', end) + 1));
  }
  for (std::size_t k = names.size(); k-- > 0;) {
    if (!found[k].empty()) continue;
    found[k] = no_value;
    if (lacking != nullptr) *lacking = names[k];
  }
  return found;
}

std::vector<std::string> cells_of(std::string_view line, CellForm form) {
  std::vector<std::string> cells;
  if (form == CellForm::json) {
    for (const std::string_view item : raw_items(line)) cells.emplace_back(item);
    return cells;
  }
  const char* at = line.data();
  while (at != nullptr) cells.push_back(field_content(take_field(at, line.data() + line.size(), ',')));
  return cells;
}

std::vector<std::optional<std::string>> texts_of(std::string_view line, CellForm form) {
  std::vector<std::optional<std::string>> texts;
  for (const std::string& cell : cells_of(line, form)) {
    const bool none = form == CellForm::json ? cell == no_value : cell.empty();
    texts.push_back(none ? std::nullopt : std::optional(form == CellForm::json ? text_of_json(cell) : cell));
  }
  return texts;
}

std::string converted(std::string_view line, CellForm from, CellForm to) {
  if (from == to) return std::string(line);
  std::string result = to == CellForm::json ? "[" : "";
  bool first = true;
  for (const std::optional<std::string>& text : texts_of(line, from)) {
    if (!std::exchange(first, false)) result += ',';
    if (to == CellForm::csv)
      append_csv_cell(result, text.value_or(""));
    else
      result += text ? json_text(*text) : no_value;
  }
  return to == CellForm::json ? result + "]" : result;
}

}  // namespace rml::rt
