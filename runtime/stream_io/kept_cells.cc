// Cells wait in a queue. The front is removed when the last of the writers has taken it.
#include "runtime/stream_io/kept_cells.h"

#include <algorithm>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/stream_io/spelling.h"
#include "runtime/stream_io/wanted_ports.h"

namespace rml::rt {
namespace {

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t'; });
  return text;
}

// The columns of a header for messages.
std::string named(const std::string& header) { return header.empty() ? "no columns" : "'" + header + "'"; }

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

KeptCells::KeptCells(std::vector<std::string> columns) : columns_(std::move(columns)) {
  for (auto it = columns_.begin(); it != columns_.end(); ++it) {
    if (std::find(columns_.begin(), it, *it) != it)
      throw Failure("--keep " + *it + ": the column is named twice", exit_usage);
  }
}

std::vector<std::size_t> KeptCells::find(const std::string& file, const std::vector<HeaderField>& header) {
  std::vector<std::size_t> places;
  std::string line;
  std::vector<std::string> known;
  for (const HeaderField& field : header) known.push_back(field.name);
  for (const std::string& column : columns_) {
    const std::string name = without_blanks(column);
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      const std::string all = columns_.size() > 1 ? "; all must be in one file" : "";
      if (complaint_.empty())
        complaint_ = file + ":1: no column '" + column + "' to keep" + did_you_mean(name, known) + all;
      return {};
    }
    if (std::find(found + 1, known.end(), name) != known.end())
      throw Failure(file + ":1: column '" + column + "' appears twice");
    places.push_back(static_cast<std::size_t>(found - known.begin()));
    if (places.size() > 1) line += ',';
    append_csv_cell(line, header[places.back()].text);
  }
  if (!file_.empty())
    throw Failure("--keep " + columns_.front() + ": '" + file_ + "' and '" + file +
                  "' have this column; remove it from one of them");
  file_ = file;
  header_ = line;
  return places;
}

void KeptCells::require_found() const {
  if (any() && file_.empty()) throw Failure(complaint_);
}

void KeptCells::add(std::string cells) {
  const std::lock_guard lock(mutex_);
  if (read_++ >= first_) rows_.push_back(std::move(cells));
}

std::size_t KeptCells::add_writer() {
  written_.push_back(first_);
  return written_.size() - 1;
}

std::string KeptCells::next(std::size_t writer) {
  const std::lock_guard lock(mutex_);
  const auto row = static_cast<std::size_t>(written_[writer]++ - first_);
  if (*std::min_element(written_.begin(), written_.end()) == first_) return rows_.at(row);
  std::string cells = std::move(rows_.front());
  rows_.pop_front();
  ++first_;
  return cells;
}

void KeptCells::begin(std::int64_t rows, std::int64_t cycles, bool again, const std::optional<Saved>& saved) {
  const std::lock_guard lock(mutex_);
  first_ = rows;
  read_ = cycles;
  if (!saved) return;
  const std::vector<std::string>& lines = saved->lines;
  const std::string before = lines.empty() ? "" : lines.front();
  if (again && before != header_)
    throw Failure("'" + saved->file + "' was saved by a run that kept " + named(before) + ", not " + named(header_) +
                  ": give the same columns to --keep");
  const std::int64_t pending = cycles - rows;
  if (again || !any() || pending <= 0) return;
  if (static_cast<std::int64_t>(lines.size()) != pending + 1 || before != header_)
    throw Failure("'" + saved->file + "' was saved when " + std::to_string(pending) +
                  " rows were not yet written, with " + named(before) + " kept for them, not " + named(header_) +
                  ": use the same --keep in the run that saves");
  rows_.assign(lines.begin() + 1, lines.end());
}

std::vector<std::string> KeptCells::lines(std::int64_t from, std::int64_t to) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all{header_};
  for (std::int64_t row = from; row < to; ++row) all.push_back(rows_.at(static_cast<std::size_t>(row - first_)));
  return all;
}

}  // namespace rml::rt
