// See batch.h.
#include "runtime/pipeline/batch.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace rml::rt {
namespace {

constexpr std::uint64_t line = 64;
constexpr std::uint64_t batch_bytes = std::uint64_t{32} << 10;
constexpr std::uint64_t all_bytes = std::uint64_t{512} << 10;

std::uint64_t aligned(std::uint64_t at, std::uint64_t alignment) { return (at + alignment - 1) & ~(alignment - 1); }

// Rows of one size would take so much; a row of another size may be larger, but fits once.
std::uint64_t capacity_for(const RowShape& shape) {
  const std::uint64_t most = std::min(batch_bytes, Batch::most_rows * shape.most_bytes());
  return aligned(std::max(most, shape.most_bytes()), line);
}

}  // namespace

RowShape::RowShape(const Row& row, const std::vector<std::uint32_t>& ports)
    : flags_(row.size()), most_bytes_(std::max<std::uint64_t>(row.size(), 1)) {
  for (const std::uint32_t i : ports) {
    const std::uint64_t element = dtype_bytes(row.port(i).dtype);
    const std::uint64_t bytes = row.port(i).elements * element;
    if (bytes == 0) continue;
    values_.push_back({i, bytes, bytes >= line ? line : element});
    most_bytes_ += bytes + values_.back().alignment - 1;
  }
}

void Batch::Free::operator()(void* block) const { std::free(block); }

Batch::Batch(const RowShape& shape)
    : shape_(shape), capacity_(capacity_for(shape)), bytes_(static_cast<char*>(std::aligned_alloc(line, capacity_))) {
  if (!bytes_) throw std::bad_alloc();
}

void Batch::add(const Row& row) {
  char* const bytes = bytes_.get();
  std::memcpy(bytes + used_, row.present(), shape_.flags());
  used_ += shape_.flags();
  for (const RowShape::Value& value : shape_.values()) {
    if (!row.is_present(value.port)) continue;
    used_ = aligned(used_, value.alignment);
    // A scalar is worth no call.
    if (value.bytes == 8) {
      std::memcpy(bytes + used_, row.data(value.port), 8);
    } else if (value.bytes == 4) {
      std::memcpy(bytes + used_, row.data(value.port), 4);
    } else {
      std::memcpy(bytes + used_, row.data(value.port), value.bytes);
    }
    used_ += value.bytes;
  }
  ++rows_;
}

bool Batch::show_next(Row& row) {
  if (shown_ == rows_) return false;
  ++shown_;
  char* const bytes = bytes_.get();
  row.show_present(reinterpret_cast<std::uint8_t*>(bytes + at_));
  at_ += shape_.flags();
  for (const RowShape::Value& value : shape_.values()) {
    if (!row.is_present(value.port)) continue;
    at_ = aligned(at_, value.alignment);
    row.show(value.port, bytes + at_);
    at_ += value.bytes;
  }
  return true;
}

std::size_t batches_for(const RowShape& shape) {
  return std::clamp<std::size_t>(all_bytes / capacity_for(shape), 2, 8);
}

}  // namespace rml::rt
