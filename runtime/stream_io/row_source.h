// The interface of all readers of rows.
//
// A source is made for some ports of one Row; each read fills their values and presence flags. It
// reports an error of the input as a Failure that names file, line, column and cycle. Only the
// program knows whether a value may be present at a cycle (its clock), so a source can report the
// position of its last values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rml::rt {

// The place of a value in a file: numbers from 1; 0 if the format does not know them.
struct Place {
  std::int64_t line = 0, column = 0;
};

// The place as text, such as "in.csv:4:7".
std::string place_text(const std::string& file, const Place& place);

// The beginning of a row, at which a reader of a file can continue.
struct Mark {
  std::uint64_t offset = 0;  // bytes from the beginning of the file
  std::int64_t line = 0;     // numbered from 1; 0 if the format has none
  std::int64_t row = 0;      // numbered from 0
};

class RowSource {
 public:
  virtual ~RowSource() = default;
  // Reads the values of the next cycle into the row; false at the end of the input.
  virtual bool read() = 0;
  // Number of further rows, up to `most`, that take_rows can take without waiting for more than
  // one of them. If it is 0, the caller uses read().
  virtual std::uint32_t rows_at_hand(std::uint32_t most) {
    static_cast<void>(most);
    return 0;
  }
  // Takes this many rows, in which all values are present. The values of port i are stored
  // adjacently from to[i] on.
  virtual void take_rows(std::uint32_t rows, char* const* to) {
    static_cast<void>(rows);
    static_cast<void>(to);
  }
  // The position, in file(port), of the port's value in the last read.
  virtual Place where(std::uint32_t port) const = 0;
  // The result never changes.
  virtual const std::string& file(std::uint32_t) const { return name(); }
  // True for a source that has a row for every cycle and never ends: a timer.
  virtual bool endless() const { return false; }
  // Forgets the last row that was read: it is not the row of a cycle.
  virtual void drop() {}
  // The last read ended with Silence (live/waiting.h): its cycle has no row, and cells to keep are empty.
  virtual void read_nothing() {}
  // The last row as it came, without its line end; empty if the format has no rows of text.
  virtual std::string_view text() const { return {}; }
  // File and position, such as "in.csv:4:7", as far as the format knows them.
  std::string place(std::uint32_t port) const { return place_text(file(port), where(port)); }
  // The share of the input already read, in [0, 1]; negative if its size is unknown.
  virtual double fraction() const = 0;
  virtual const std::string& name() const = 0;
  // True if the source can continue at the marks of rows that it has read.
  virtual bool can_go_back() const { return false; }
  // Appends where the next row begins: one mark for each file.
  virtual void mark(std::vector<Mark>& marks) const { static_cast<void>(marks); }
  // Continues at the marks that this source has appended. Returns the address after its marks.
  virtual const Mark* go_to(const Mark* marks) { return marks; }
};

}  // namespace rml::rt
