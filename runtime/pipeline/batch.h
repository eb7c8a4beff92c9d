// Batches of rows that one thread hands to another. Each port has its values in one array, and
// its flags in another if it may be absent. A batch is one allocation, even if values are absent.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/stream_io/row.h"

namespace rml::rt {

// The layout of a batch: which ports of a row it contains, and where.
class RowShape {
 public:
  explicit RowShape(const Row& row);  // the shape of a row with all ports
  RowShape(const Row& row, const std::vector<std::uint32_t>& ports);

  struct Column {
    std::uint32_t port;
    bool always;
    std::uint64_t bytes;          // bytes of a value
    std::uint64_t values, flags;  // offsets of the port's values and flags in a batch
  };
  const std::vector<Column>& columns() const { return columns_; }
  std::uint32_t ports() const { return ports_; }
  std::uint32_t rows() const { return rows_; }    // largest number of rows in a batch
  std::uint64_t bytes() const { return bytes_; }  // bytes of a batch

 private:
  std::vector<Column> columns_;
  std::uint32_t ports_;
  std::uint32_t rows_;
  std::uint64_t bytes_ = 0;
};

// Addresses of adjacent rows: for each port the first value, and the first flag if it may be
// absent. Null: not stored.
struct PortArrays {
  explicit PortArrays(std::size_t ports) : values(ports), flags(ports) {}
  std::vector<void*> values;
  std::vector<std::uint8_t*> flags;
};

class Batch {
 public:
  static constexpr std::uint32_t most_rows = 256;

  // Allocates a batch. Throws bad_alloc.
  explicit Batch(const RowShape& shape);

  std::uint32_t rows() const { return rows_; }
  std::uint32_t room() const { return shape_.rows() - rows_; }  // number of rows that fit
  void add(const Row& row);
  // Adds rows in which all values are present: `take` stores the values of each port adjacently
  // at the address in `to`.
  template <class Take>
  void add(std::uint32_t rows, const Take& take) {
    for (const RowShape::Column& c : shape_.columns()) {
      to_[c.port] = value(c, rows_);
      if (!c.always) std::memset(&flag(c, rows_), 1, rows);
    }
    take(rows, to_.data());
    rows_ += rows;
  }
  // The addresses at which up to room() further rows may be stored; `added` adds rows stored
  // there.
  void point_at_room(PortArrays& to) const { point_at(rows_, to); }
  void added(std::uint32_t rows) { rows_ += rows; }
  // The addresses of the rows that were not shown yet; `pass` skips rows.
  void point_at_rows(PortArrays& to) const { point_at(shown_, to); }
  void pass(std::uint32_t rows) { shown_ += rows; }
  // Shows the next row in `row`; false if there is none.
  bool show_next(Row& row);
  std::uint32_t shown() const { return shown_; }
  // The value of a column, `rows` rows after the shown one; null if the batch does not have that
  // row yet.
  const void* ahead(std::uint32_t column, std::uint32_t rows) const {
    const std::uint32_t row = shown_ + rows - 1;
    return row < rows_ ? value(shape_.columns()[column], row) : nullptr;
  }
  void clear() { rows_ = shown_ = 0; }

 private:
  struct Free {
    void operator()(void* block) const;
  };
  void point_at(std::uint32_t row, PortArrays& to) const;
  char* value(const RowShape::Column& c, std::uint32_t row) const { return bytes_.get() + c.values + row * c.bytes; }
  std::uint8_t& flag(const RowShape::Column& c, std::uint32_t row) const {
    return reinterpret_cast<std::uint8_t*>(bytes_.get())[c.flags + row];
  }

  const RowShape& shape_;
  std::unique_ptr<char[], Free> bytes_;
  std::vector<char*> to_;
  std::vector<std::uint8_t> present_;  // presence flags of the shown row
  std::uint32_t rows_ = 0, shown_ = 0;
};

// Number of batches to circulate: about 512 KiB in total, at least two.
std::size_t batches_for(const RowShape& shape);

}  // namespace rml::rt
