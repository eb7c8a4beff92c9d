// Copies cells of an input that the program does not read to the rows that it writes (--keep).
//
// The cells that were read with the row of cycle k precede the values of output row k, even if
// that row is written much later. In between they are stored here, in the form of the input
// (cell_lines.h). One thread reads and one writes; the main thread of the run also reads the
// pending cells when it saves a state.
//
// Rows normally leave in the order in which they were read. With keys, the rows of one key may
// wait while those of another leave: then the run says which row leaves next (wait_for_rows).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/stream_io/cells/cell_lines.h"

namespace rml::rt {

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
  // cells. place: the header, for messages. Throws Failure if another input has them, too.
  std::vector<std::size_t> find(const std::string& file, const std::string& place,
                                const std::vector<HeaderField>& header);
  // The same for JSON lines, which have no header: true if no other input has the columns.
  bool find_in_objects(const std::string& file);
  // Call it after all readers have searched. Throws Failure if no input has the columns.
  void require_found() const;
  // Adds the cells of the next row.
  void add(std::string cells);
  // Adds a row whose cells have no values.
  void add_none();
  // Forgets the cells of the last row, which was dropped.
  void drop_last();

  // ---- for writers: all of them write a row before the next row comes ----
  // The names as cells of CSV, and as texts.
  const std::string& header() const { return header_; }
  const std::vector<std::string>& titles() const { return titles_; }
  CellForm form() const { return form_; }
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

  // From now on, a row leaves when `leave` names it. first: number of the first row that the
  // input provides; rows before `cycles` that it provides again are dropped. waiting: the numbers
  // of the rows that wait, which have the saved cells.
  void wait_for_rows(std::int64_t first, std::int64_t cycles, bool again, const std::vector<std::int64_t>& waiting,
                     const std::optional<Saved>& saved);
  // The row leaves next.
  void leave(std::int64_t row);
  // The contents for a saved state: the header and the cells of the rows that wait before this
  // one.
  std::vector<std::string> waiting_lines(std::int64_t before) const;

 private:
  void claim(const std::string& file, std::vector<std::string> titles, CellForm form);
  std::string saved_header() const {
    return form_ == CellForm::csv ? header_ : converted(header_, CellForm::csv, form_);
  }
  // The cells of a saved state, in the form of the input. count: the number of rows that wait.
  std::vector<std::string> saved_cells(const Saved& saved, bool again, std::size_t count) const;

  std::vector<std::string> columns_;
  std::vector<std::string> titles_;
  std::string header_;
  CellForm form_ = CellForm::csv;
  std::string file_;       // the file with the columns
  std::string complaint_;  // the reason why a file does not have them

  mutable std::mutex mutex_;
  std::deque<std::string> rows_;
  std::int64_t first_ = 0;  // number of the first row in rows_
  std::int64_t read_ = 0;   // number of the next row to read
  std::vector<std::int64_t> written_;
  bool waits_ = false;                           // rows leave when `leave` names them
  std::int64_t dropped_ = 0;                     // rows before this one are not added to waiting_
  std::map<std::int64_t, std::string> waiting_;  // by number of the row
};

}  // namespace rml::rt
