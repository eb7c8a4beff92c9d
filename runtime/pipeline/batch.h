// Rows, to be handed from one thread to another, port by port: of each port its values one behind the other, and flags
// where it may be absent. Memory is that of one batch, whatever is absent.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/stream_io/row.h"

namespace rml::rt {

// Which values of a row are packed, and where they lie.
class RowShape {
 public:
  explicit RowShape(const Row& row);  // all
  RowShape(const Row& row, const std::vector<std::uint32_t>& ports);

  struct Column {
    std::uint32_t port;
    bool always;
    std::uint64_t bytes;          // of a value
    std::uint64_t values, flags;  // where they begin
  };
  const std::vector<Column>& columns() const { return columns_; }
  std::uint32_t ports() const { return ports_; }
  std::uint32_t rows() const { return rows_; }    // of a batch
  std::uint64_t bytes() const { return bytes_; }  // of a batch

 private:
  std::vector<Column> columns_;
  std::uint32_t ports_;
  std::uint32_t rows_;
  std::uint64_t bytes_ = 0;
};

// Of rows one behind the other: where the values of each port begin, and flags where it may be absent. Null: nowhere.
struct PortArrays {
  explicit PortArrays(std::size_t ports) : values(ports), flags(ports) {}
  std::vector<void*> values;
  std::vector<std::uint8_t*> flags;
};

class Batch {
 public:
  static constexpr std::uint32_t most_rows = 256;

  // Throws bad_alloc.
  explicit Batch(const RowShape& shape);

  std::uint32_t rows() const { return rows_; }
  std::uint32_t room() const { return shape_.rows() - rows_; }  // for so many rows
  void add(const Row& row);
  // Rows all of whose values are there: `take` puts those of each port, one behind the other, where `to` says.
  template <class Take>
  void add(std::uint32_t rows, const Take& take) {
    for (const RowShape::Column& c : shape_.columns()) {
      to_[c.port] = value(c, rows_);
      if (!c.always) std::memset(&flag(c, rows_), 1, rows);
    }
    take(rows, to_.data());
    rows_ += rows;
  }
  // Where further rows are put, at most room() of them; so many have been.
  void point_at_room(PortArrays& to) const { point_at(rows_, to); }
  void added(std::uint32_t rows) { rows_ += rows; }
  // Where the rows lie that were not shown yet; so many are not going to be.
  void point_at_rows(PortArrays& to) const { point_at(shown_, to); }
  void pass(std::uint32_t rows) { shown_ += rows; }
  // Lets `row` show the next row; false if it has shown the last.
  bool show_next(Row& row);
  std::uint32_t shown() const { return shown_; }
  // The value of a column so many rows behind the one that is shown; null: there is no such row yet.
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
  std::vector<std::uint8_t> present_;  // in the row that is shown
  std::uint32_t rows_ = 0, shown_ = 0;
};

// How many go round: about half a mebibyte of them, and two at least.
std::size_t batches_for(const RowShape& shape);

}  // namespace rml::rt
