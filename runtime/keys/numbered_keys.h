// A source of rows that adds the number of each row's key. The numbers are found when rows are
// read, so that the run can look ahead.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "runtime/keys/keys.h"
#include "runtime/stream_io/row.h"
#include "runtime/stream_io/row_source.h"

namespace rml::rt {

class NumberedKeys final : public RowSource {
 public:
  // `source` fills `row`. Port `key` holds the value of the key, and the port after it receives
  // the number.
  NumberedKeys(std::unique_ptr<RowSource> source, Row& row, std::uint32_t key, Keys& keys)
      : source_(std::move(source)), key_(key), value_(row.data(key)), number_(row.data(key + 1)), keys_(keys) {
    row.set_present(key + 1, true);
  }

  bool read() override {
    if (!source_->read()) return false;
    const std::uint32_t found = keys_.number_of(value_);
    std::memcpy(number_, &found, sizeof found);
    return true;
  }
  std::uint32_t rows_at_hand(std::uint32_t most) override { return source_->rows_at_hand(most); }
  void take_rows(std::uint32_t rows, char* const* to) override {
    source_->take_rows(rows, to);
    keys_.numbers_of(to[key_], rows, reinterpret_cast<std::uint32_t*>(to[key_ + 1]));
  }
  Place where(std::uint32_t port) const override { return source_->where(port); }
  const std::string& file(std::uint32_t port) const override { return source_->file(port); }
  double fraction() const override { return source_->fraction(); }
  const std::string& name() const override { return source_->name(); }

 private:
  const std::unique_ptr<RowSource> source_;
  const std::uint32_t key_;
  const void* const value_;
  void* const number_;
  Keys& keys_;
};

}  // namespace rml::rt
