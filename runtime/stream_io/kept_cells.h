// Cells of CSV that the program does not read and that leave with its rows: --keep.
//
// The cells of the row that a reader read for cycle k go before the values of row k, however late that leaves. Between
// the two they wait here, as they will be written (RFC 4180). One thread reads, and one writes; the run's own looks at
// what is pending when a state is saved.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rml::rt {

// A line of CSV, in pieces. blanks_count: those at the ends of the text, which a reader takes from what is not quoted.
void append_csv_cell(std::string& line, std::string_view text, bool blanks_count = false);
// What a field holds, blanks included, as it stands in the file.
std::string field_content(std::string_view raw);

// Of a header: what ports are looked for by, and what it says.
struct HeaderField {
  std::string name;  // without blanks
  std::string text;
};

class KeptCells {
 public:
  // Throws Failure with status 2 where a column is named twice.
  explicit KeptCells(std::vector<std::string> columns);

  bool any() const { return !columns_.empty(); }
  std::size_t columns() const { return columns_.size(); }
  const std::vector<std::string>& names() const { return columns_; }

  // ---- Of readers. ----
  // Where the columns stand in a header, if they all do: they are taken from there. Throws Failure if another has them.
  std::vector<std::size_t> find(const std::string& file, const std::vector<HeaderField>& header);
  // All readers have been asked. Throws Failure.
  void require_found() const;
  // The cells of the next row.
  void add(std::string cells);

  // ---- Of writers: all of them write a row before the next one comes. ----
  const std::string& header() const { return header_; }
  std::size_t add_writer();
  std::string next(std::size_t writer);

  // ---- Of the run. ----
  // What a state has of it: the header, then the cells of the rows that were to leave yet.
  struct Saved {
    std::string file;
    std::vector<std::string> lines;  // none: nothing was kept
  };
  // The rows to be written begin with `rows`, those to be read with `cycles`. again: the outputs go on, and the input
  // begins anew. Throws Failure where they do not fit what was saved.
  void begin(std::int64_t rows, std::int64_t cycles, bool again, const std::optional<Saved>& saved);
  // For a state: the header, and the cells of these rows.
  std::vector<std::string> lines(std::int64_t from, std::int64_t to) const;

 private:
  std::vector<std::string> columns_;
  std::string header_;
  std::string file_;       // that has them
  std::string complaint_;  // … or why one has not

  mutable std::mutex mutex_;
  std::deque<std::string> rows_;
  std::int64_t first_ = 0;  // the row that rows_ begins with; what comes before it is dropped
  std::int64_t read_ = 0;   // the row that is read next
  std::vector<std::int64_t> written_;
};

}  // namespace rml::rt
