// Copies cells of a CSV input that the program does not read to the rows that it writes (--keep).
//
// The cells that were read with the row of cycle k precede the values of output row k, even if
// that row is written much later. In between they are stored here, in the form in which they will
// be written (RFC 4180). One thread reads and one writes; the main thread of the run also reads
// the pending cells when it saves a state.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rml::rt {

// Appends a cell to a line of CSV, quoted if necessary. blanks_count: blanks at the ends of the
// text are significant, so it is quoted.
void append_csv_cell(std::string& line, std::string_view text, bool blanks_count = false);
// The content of a field, with its blanks.
std::string field_content(std::string_view raw);

// A field of a header: its name for the search of ports, and its full text.
struct HeaderField {
  std::string name;  // the name without surrounding blanks
  std::string text;
};

class KeptCells {
 public:
  // Throws Failure with status 2 if a column is named twice.
  explicit KeptCells(std::vector<std::string> columns);

  bool any() const { return !columns_.empty(); }
  std::size_t columns() const { return columns_.size(); }
  const std::vector<std::string>& names() const { return columns_; }

  // ---- for readers ----
  // The positions of the columns in a header, if it has all of them; the reader must then add
  // cells. Throws Failure if another input has them, too.
  std::vector<std::size_t> find(const std::string& file, const std::vector<HeaderField>& header);
  // Call it after all readers have searched. Throws Failure if no input has the columns.
  void require_found() const;
  // Adds the cells of the next row.
  void add(std::string cells);

  // ---- for writers: all of them write a row before the next row comes ----
  const std::string& header() const { return header_; }
  std::size_t add_writer();
  std::string next(std::size_t writer);

  // ---- for the run ----
  // The contents of a saved state: the header, then the cells of the rows that were not written
  // yet.
  struct Saved {
    std::string file;
    std::vector<std::string> lines;  // empty: no cells were kept
  };
  // Starts with the row number `rows` for writing and `cycles` for reading. again: the outputs
  // continue, and the input is read from the beginning. Throws Failure if this contradicts the
  // saved cells.
  void begin(std::int64_t rows, std::int64_t cycles, bool again, const std::optional<Saved>& saved);
  // The contents for a saved state: the header and the cells of these rows.
  std::vector<std::string> lines(std::int64_t from, std::int64_t to) const;

 private:
  std::vector<std::string> columns_;
  std::string header_;
  std::string file_;       // the file with the columns
  std::string complaint_;  // the reason why a file does not have them

  mutable std::mutex mutex_;
  std::deque<std::string> rows_;
  std::int64_t first_ = 0;  // number of the first row in rows_
  std::int64_t read_ = 0;   // number of the next row to read
  std::vector<std::int64_t> written_;
};

}  // namespace rml::rt
