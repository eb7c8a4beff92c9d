// A block is one allocation: the keys, a line with the pointer to them, and the elements.
#include "runtime/scheduler/network_ring.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace rml::rt {

namespace {

constexpr std::uint64_t line = RML_RING_LINE;
constexpr std::uint64_t whole_lines(std::uint64_t bytes) { return (bytes + line - 1) / line * line; }

std::int64_t* keys_of(void* data) { return static_cast<std::int64_t**>(data)[-2]; }

}  // namespace

NetworkRing::NetworkRing(const rml_queue& queue, std::uint32_t readers, void* state, std::uint64_t limit)
    : ring_(*reinterpret_cast<rml_ring*>(static_cast<char*>(state) + queue.offset)),
      readers_(readers),
      element_bytes_(queue.element_bytes),
      first_(queue.first),
      limit_(std::max<std::uint64_t>(limit, 1)) {}

std::atomic_ref<std::int64_t> NetworkRing::cursor(std::uint32_t reader) const {
  char* first = reinterpret_cast<char*>(&ring_ + 1);
  return std::atomic_ref<std::int64_t>(*reinterpret_cast<std::int64_t*>(first + line * reader));
}

std::int64_t NetworkRing::slowest() const {
  std::int64_t least = INT64_MAX;
  for (std::uint32_t r = 0; r < readers_; ++r) least = std::min(least, cursor(r).load(std::memory_order_acquire));
  return least;
}

std::uint32_t NetworkRing::slowest_reader() const {
  std::uint32_t last = 0;
  for (std::uint32_t r = 1; r < readers_; ++r)
    if (cursor(r).load() < cursor(last).load()) last = r;
  return last;
}

std::int64_t NetworkRing::waiting() const {
  return std::atomic_ref<std::int64_t>(ring_.pushed).load(std::memory_order_acquire) - slowest();
}

bool NetworkRing::is_empty_for(std::uint32_t reader) const {
  return std::atomic_ref<std::int64_t>(ring_.pushed).load() <= cursor(reader).load();
}

bool NetworkRing::has_room(std::int64_t count) {
  const auto fits = [&] {
    const std::int64_t waits = ring_.pushed - ring_.slowest;
    if (waits <= 0) return true;
    const std::int64_t limit = static_cast<std::int64_t>(limit_.load(std::memory_order_relaxed));
    return waits + count <= (count > 1 ? std::max(limit, 2 * count) : limit);
  };
  if (fits()) return true;
  ring_.slowest = slowest();
  return fits();
}

bool NetworkRing::make_room(std::int64_t count, rml_header& memory) {
  const std::int64_t waits = std::max<std::int64_t>(ring_.pushed - ring_.slowest, 0);
  const auto needed = static_cast<std::uint64_t>(waits + count);
  if (needed <= ring_.capacity) return true;
  ring_.slowest = slowest();
  const auto now_needed = static_cast<std::uint64_t>(std::max<std::int64_t>(ring_.pushed - ring_.slowest, 0) + count);
  if (now_needed <= ring_.capacity) return true;
  const std::uint64_t capacity = std::bit_ceil(std::max(now_needed, 2 * ring_.capacity));
  void* data = new_block(capacity, memory);
  if (data == nullptr) return false;
  copy_waiting(static_cast<char*>(data), capacity);
  std::atomic_ref<void*>(ring_.data).store(data, std::memory_order_release);
  ring_.capacity = capacity;
  return true;
}

// Allocates a block and returns the address of its elements.
void* NetworkRing::new_block(std::uint64_t capacity, rml_header& memory) {
  const std::uint64_t keys = whole_lines(capacity * sizeof(std::int64_t));
  const std::uint64_t bytes = keys + line + whole_lines(capacity * element_bytes_);
  void* whole = memory.grow != nullptr ? memory.grow(memory.context, nullptr, 0, bytes) : nullptr;
  if (whole == nullptr) {
    refused_ = bytes;
    return nullptr;
  }
  blocks_.push_back({whole, bytes});
  bytes_ += bytes;
  void* data = static_cast<char*>(whole) + keys + line;
  static_cast<void**>(data)[-2] = whole;
  static_cast<std::uint64_t*>(data)[-1] = capacity - 1;
  return data;
}

void NetworkRing::copy_waiting(char* to, std::uint64_t capacity) const {
  const char* from = static_cast<const char*>(ring_.data);
  for (std::int64_t n = std::max<std::int64_t>(ring_.slowest, 0); n < ring_.pushed; ++n) {
    const std::uint64_t here = static_cast<std::uint64_t>(n) & (ring_.capacity - 1);
    const std::uint64_t there = static_cast<std::uint64_t>(n) & (capacity - 1);
    std::memcpy(to + there * element_bytes_, from + here * element_bytes_, element_bytes_);
    keys_of(to)[there] = keys_of(ring_.data)[here];
  }
}

// Restored elements are older than all elements to come, so their keys are 0.
bool NetworkRing::adopt(rml_header& memory) {
  void* brought = ring_.data;
  const std::uint64_t brought_capacity = ring_.capacity;
  ring_.slowest = slowest();
  if (brought == nullptr) {
    ring_.capacity = 0;
    return first_ == nullptr || ring_.pushed > 0 || put_first(memory);
  }
  const auto waits = static_cast<std::uint64_t>(std::max<std::int64_t>(ring_.pushed - ring_.slowest, 1));
  const std::uint64_t capacity = std::bit_ceil(waits);
  char* data = static_cast<char*>(new_block(capacity, memory));
  if (data == nullptr) return false;
  for (std::int64_t n = ring_.slowest; n < ring_.pushed; ++n) {
    const std::uint64_t here = static_cast<std::uint64_t>(n) & (brought_capacity - 1);
    const std::uint64_t there = static_cast<std::uint64_t>(n) & (capacity - 1);
    std::memcpy(data + there * element_bytes_, static_cast<char*>(brought) + here * element_bytes_, element_bytes_);
  }
  memory.grow(memory.context, brought, brought_capacity * element_bytes_, 0);
  ring_.data = data;
  ring_.capacity = capacity;
  return true;
}

bool NetworkRing::put_first(rml_header& memory) {
  void* data = new_block(1, memory);
  if (data == nullptr) return false;
  std::memcpy(data, first_, element_bytes_);
  *keys_of(data) = 0;
  ring_.data = data;
  ring_.capacity = 1;
  ring_.pushed = 1;
  return true;
}

void NetworkRing::release(rml_header& memory) {
  for (const Block& block : blocks_) memory.grow(memory.context, block.whole, block.bytes, 0);
  blocks_.clear();
  bytes_ = 0;
  ring_.data = nullptr;
  ring_.capacity = 0;
}

}  // namespace rml::rt
