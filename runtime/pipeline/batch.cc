// A batch holds about 32 KiB of rows, at least one and at most most_rows.
#include "runtime/pipeline/batch.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>

namespace rml::rt {
namespace {

constexpr std::uint64_t line = 64;
constexpr std::uint64_t batch_bytes = std::uint64_t{32} << 10;
constexpr std::uint64_t all_bytes = std::uint64_t{512} << 10;

std::uint64_t aligned(std::uint64_t at) { return (at + line - 1) & ~(line - 1); }

std::vector<std::uint32_t> all_ports(const Row& row) {
  std::vector<std::uint32_t> ports(row.size());
  std::iota(ports.begin(), ports.end(), 0u);
  return ports;
}

}  // namespace

RowShape::RowShape(const Row& row) : RowShape(row, all_ports(row)) {}

RowShape::RowShape(const Row& row, const std::vector<std::uint32_t>& ports) : ports_(row.size()) {
  std::uint64_t of_row = 1;
  for (const std::uint32_t i : ports) {
    const rml_port& port = row.port(i);
    columns_.push_back({i, port.always != 0, port.elements * dtype_bytes(port.dtype), 0, 0});
    of_row += columns_.back().bytes + (port.always != 0 ? 0 : 1);
  }
  rows_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(batch_bytes / of_row, 1, Batch::most_rows));
  const auto take = [&](std::uint64_t bytes) {
    const std::uint64_t at = bytes_;
    bytes_ = aligned(bytes_ + bytes);
    return at;
  };
  for (Column& c : columns_) {
    c.values = take(rows_ * c.bytes);
    if (!c.always) c.flags = take(rows_);
  }
}

void Batch::Free::operator()(void* block) const { std::free(block); }

Batch::Batch(const RowShape& shape)
    : shape_(shape),
      bytes_(static_cast<char*>(std::aligned_alloc(line, std::max(shape.bytes(), line)))),
      to_(shape.ports()),
      present_(shape.ports(), 1) {
  if (!bytes_) throw std::bad_alloc();
}

void Batch::add(const Row& row) {
  for (const RowShape::Column& c : shape_.columns()) {
    const bool there = c.always || row.is_present(c.port);
    if (!c.always) flag(c, rows_) = there ? 1 : 0;
    if (there) copy_value(value(c, rows_), row.data(c.port), c.bytes);
  }
  ++rows_;
}

void Batch::point_at(std::uint32_t row, PortArrays& to) const {
  for (const RowShape::Column& c : shape_.columns()) {
    to.values[c.port] = value(c, row);
    to.flags[c.port] = c.always ? nullptr : &flag(c, row);
  }
}

bool Batch::show_next(Row& row) {
  if (shown_ == rows_) return false;
  row.show_present(present_.data());
  for (const RowShape::Column& c : shape_.columns()) {
    if (!c.always) row.set_present(c.port, flag(c, shown_) != 0);
    row.show(c.port, value(c, shown_));
  }
  ++shown_;
  return true;
}

std::size_t batches_for(const RowShape& shape) {
  return std::clamp<std::size_t>(all_bytes / std::max(shape.bytes(), line), 2, 8);
}

}  // namespace rml::rt
