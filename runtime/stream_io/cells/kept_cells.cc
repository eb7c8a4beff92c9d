// Cells wait in a queue. The front is removed when the last of the writers has taken it. In a run
// whose rows may wait, the cells are first stored by the number of their row.
#include "runtime/stream_io/cells/kept_cells.h"

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

// A saved header in JSON form begins with ["…, which no header of CSV does: a name with a quote is
// quoted there.
CellForm form_of(const std::string& header) { return header.starts_with("[\"") ? CellForm::json : CellForm::csv; }

std::string as_csv(const std::string& header) { return converted(header, form_of(header), CellForm::csv); }

}  // namespace

KeptCells::KeptCells(std::vector<std::string> columns) : columns_(std::move(columns)) {
  for (auto it = columns_.begin(); it != columns_.end(); ++it) {
    if (std::find(columns_.begin(), it, *it) != it)
      throw Failure("--keep " + *it + ": the column is named twice", exit_usage);
  }
}

void KeptCells::claim(const std::string& file, std::vector<std::string> titles, CellForm form) {
  if (!file_.empty())
    throw Failure("--keep " + columns_.front() + ": '" + file_ + "' and '" + file +
                  "' have this column; remove it from one of them");
  file_ = file;
  form_ = form;
  titles_ = std::move(titles);
  for (const std::string& title : titles_) {
    if (&title != &titles_.front()) header_ += ',';
    append_csv_cell(header_, title);
  }
}

std::vector<std::size_t> KeptCells::find(const std::string& file, const std::string& place,
                                         const std::vector<HeaderField>& header) {
  std::vector<std::size_t> places;
  std::vector<std::string> known, titles;
  for (const HeaderField& field : header) known.push_back(field.name);
  for (const std::string& column : columns_) {
    const std::string name = without_blanks(column);
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      const std::string all = columns_.size() > 1 ? "; all must be in one file" : "";
      if (complaint_.empty())
        complaint_ = place + ": no column '" + column + "' to keep" + did_you_mean(name, known) + all;
      return {};
    }
    if (std::find(found + 1, known.end(), name) != known.end())
      throw Failure(place + ": column '" + column + "' appears twice");
    places.push_back(static_cast<std::size_t>(found - known.begin()));
    titles.push_back(header[places.back()].text);
  }
  claim(file, std::move(titles), CellForm::csv);
  return places;
}

bool KeptCells::find_in_objects(const std::string& file) {
  if (!file_.empty() && form_ == CellForm::csv) return false;
  claim(file, columns_, CellForm::json);
  return true;
}

void KeptCells::require_found() const {
  if (any() && file_.empty()) throw Failure(complaint_);
}

void KeptCells::add(std::string cells) {
  const std::lock_guard lock(mutex_);
  const std::int64_t row = read_++;
  if (waits_) {
    if (row >= dropped_) waiting_.emplace(row, std::move(cells));
  } else if (row >= first_) {
    rows_.push_back(std::move(cells));
  }
}

void KeptCells::add_none() {
  std::string cells = form_ == CellForm::csv ? "" : "[null";
  for (std::size_t k = 1; k < columns(); ++k) cells += form_ == CellForm::csv ? "," : ",null";
  add(form_ == CellForm::csv ? cells : cells + "]");
}

void KeptCells::drop_last() {
  const std::lock_guard lock(mutex_);
  const std::int64_t row = --read_;
  if (waits_) waiting_.erase(row);
  if (!waits_ && row >= first_) rows_.pop_back();
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

std::vector<std::string> KeptCells::saved_cells(const Saved& saved, bool again, std::size_t count) const {
  const std::string before = saved.lines.empty() ? "" : as_csv(saved.lines.front());
  if (again && before != header_)
    throw Failure("'" + saved.file + "' was saved by a run that kept " + named(before) + ", not " + named(header_) +
                  ": give the same columns to --keep");
  if (!any() || count == 0) return {};
  if (saved.lines.size() != count + 1 || before != header_)
    throw Failure("'" + saved.file + "' was saved when " + std::to_string(count) + " rows were not yet written, with " +
                  named(before) + " kept for them, not " + named(header_) +
                  ": use the same --keep in the run that saves");
  std::vector<std::string> cells;
  for (std::size_t k = 1; k < saved.lines.size(); ++k)
    cells.push_back(converted(saved.lines[k], form_of(saved.lines.front()), form_));
  return cells;
}

void KeptCells::begin(std::int64_t rows, std::int64_t cycles, bool again, const std::optional<Saved>& saved) {
  const std::lock_guard lock(mutex_);
  first_ = rows;
  read_ = cycles;
  if (!saved) return;
  const std::int64_t pending = again ? 0 : std::max<std::int64_t>(cycles - rows, 0);
  for (std::string& cells : saved_cells(*saved, again, static_cast<std::size_t>(pending)))
    rows_.push_back(std::move(cells));
}

std::vector<std::string> KeptCells::lines(std::int64_t from, std::int64_t to) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all{saved_header()};
  for (std::int64_t row = from; row < to; ++row) all.push_back(rows_.at(static_cast<std::size_t>(row - first_)));
  return all;
}

void KeptCells::wait_for_rows(std::int64_t first, std::int64_t cycles, bool again,
                              const std::vector<std::int64_t>& waiting, const std::optional<Saved>& saved) {
  const std::lock_guard lock(mutex_);
  waits_ = true;
  read_ = first;
  dropped_ = cycles;
  if (!saved) return;
  std::vector<std::string> cells = saved_cells(*saved, again, waiting.size());
  for (std::size_t k = 0; k < cells.size(); ++k) waiting_.emplace(waiting[k], std::move(cells[k]));
}

void KeptCells::leave(std::int64_t row) {
  const std::lock_guard lock(mutex_);
  const auto found = waiting_.find(row);
  if (found == waiting_.end()) return;
  rows_.push_back(std::move(found->second));
  waiting_.erase(found);
}

std::vector<std::string> KeptCells::waiting_lines(std::int64_t before) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all{saved_header()};
  for (const auto& [row, cells] : waiting_)
    if (row < before) all.push_back(cells);
  return all;
}

}  // namespace rml::rt
