// Rows packed end to end, to be handed from one thread to another: of each row its presence flags, then the values
// that are there, aligned. Memory is that of one batch, so a large value that is mostly absent costs what it costs
// when it is there.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/stream_io/row.h"

namespace rml::rt {

// Which values of a row are packed, and how.
class RowShape {
 public:
  RowShape(const Row& row, const std::vector<std::uint32_t>& ports);

  struct Value {
    std::uint32_t port;
    std::uint64_t bytes, alignment;
  };
  const std::vector<Value>& values() const { return values_; }
  std::uint32_t flags() const { return flags_; }
  std::uint64_t most_bytes() const { return most_bytes_; }  // of a row

 private:
  std::vector<Value> values_;
  std::uint32_t flags_;
  std::uint64_t most_bytes_;
};

class Batch {
 public:
  static constexpr std::uint32_t most_rows = 256;

  // Room for one row at least. Throws bad_alloc.
  explicit Batch(const RowShape& shape);

  std::uint32_t rows() const { return rows_; }
  bool has_room() const { return rows_ < most_rows && capacity_ - used_ >= shape_.most_bytes(); }
  void add(const Row& row);
  // Lets `row` show the next row; false if it has shown the last.
  bool show_next(Row& row);
  std::uint32_t shown() const { return shown_; }
  void clear() { used_ = at_ = rows_ = shown_ = 0; }

  std::uint64_t capacity() const { return capacity_; }

 private:
  struct Free {
    void operator()(void* block) const;
  };
  const RowShape& shape_;
  std::uint64_t capacity_;
  std::unique_ptr<char[], Free> bytes_;
  std::uint64_t used_ = 0;
  std::uint64_t at_ = 0;  // what has been shown
  std::uint32_t rows_ = 0, shown_ = 0;
};

// How many go round: about half a mebibyte of them, and two at least.
std::size_t batches_for(const RowShape& shape);

}  // namespace rml::rt
