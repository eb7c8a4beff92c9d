// Finds where groups of adjacent rows end: rows with equal values in one column (--segments-by).
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/key_table.h"
#include "runtime/stream_io/row.h"
#include "runtime/stream_io/row_source.h"

namespace rml::rt {

class Groups {
 public:
  // port: the column, in the rows that files provide. numbered: its values are numbers of texts
  // in `table`; otherwise they are values of an input, which are entered into it.
  Groups(const Row& row, std::uint32_t port, bool numbered, KeyTable& table)
      : row_(row), port_(port), numbered_(numbered), table_(table) {}

  // Call it after each row, in order. True if the row begins a group. Throws Failure if its value
  // had a group before.
  bool begins(const RowSource& source);
  // The next row is the first one of the input again.
  void restart() { last_ = next_ = 0; }

 private:
  std::uint32_t number() const;
  std::string text(std::uint32_t number) const;

  const Row& row_;
  const std::uint32_t port_;
  const bool numbered_;
  KeyTable& table_;
  std::uint32_t last_ = 0;  // number of the group of the last row
  std::uint32_t next_ = 0;  // number of the next group
};

}  // namespace rml::rt
