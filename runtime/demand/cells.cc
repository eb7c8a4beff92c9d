// A full window moves to one of twice the size. Blocks are allocated in slabs.
#include "runtime/demand/cells.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>

namespace rml::rt::demand {

namespace {

// alignment of elements in bytes, and size of the head of a block
constexpr std::uint64_t alignment = 64;
constexpr std::uint64_t slab_bytes = 64 * 1024;
constexpr std::uint64_t least_window = 8;

}  // namespace

Cells::Cells(rml_header& host, std::vector<std::uint64_t> bytes)
    : host_(host), sizes_(std::move(bytes)), pool_of_(sizes_.size()), windows_(sizes_.size()) {
  std::map<std::uint64_t, std::uint32_t> known;
  for (std::size_t s = 0; s < sizes_.size(); ++s) {
    const auto [at, fresh] = known.try_emplace(sizes_[s], static_cast<std::uint32_t>(pools_.size()));
    if (fresh) pools_.push_back({sizes_[s], nullptr});
    pool_of_[s] = at->second;
  }
}

Cells::~Cells() {
  for (Window& w : windows_)
    if (w.cells != nullptr) host_.grow(host_.context, w.cells, w.capacity() * sizeof(Cell), 0);
  for (const Slab& slab : slabs_) host_.grow(host_.context, slab.memory, slab.bytes, 0);
}

void* Cells::allocate(std::uint64_t bytes) {
  void* const memory = host_.grow == nullptr ? nullptr : host_.grow(host_.context, nullptr, 0, bytes);
  if (memory == nullptr) throw Refused{bytes};
  bytes_ += bytes;
  return memory;
}

// ---- windows ----

void Cells::reserve(Window& w, std::uint64_t cells) {
  if (cells <= w.capacity()) return;
  std::uint64_t capacity = std::max(w.capacity(), least_window);
  while (capacity < cells) capacity *= 2;
  auto* const memory = static_cast<Cell*>(allocate(capacity * sizeof(Cell)));
  for (std::int64_t n = w.low; n < w.high; ++n)
    new (&memory[static_cast<std::uint64_t>(n) & (capacity - 1)]) Cell(w.cells[static_cast<std::uint64_t>(n) & w.mask]);
  if (w.cells != nullptr) {
    host_.grow(host_.context, w.cells, w.capacity() * sizeof(Cell), 0);
    bytes_ -= w.capacity() * sizeof(Cell);
  }
  w.cells = memory;
  w.mask = capacity - 1;
}

void Cells::extend(Subject subject, std::int64_t cycle) {
  Window& w = windows_[subject];
  if (cycle < floor_) {
    std::fputs("internal error: on demand, a value is asked for that was dropped\n", stderr);
    std::abort();
  }
  if (w.low == w.high) w.low = w.high = cycle;
  const std::int64_t low = std::min(w.low, cycle), high = std::max(w.high, cycle + 1);
  reserve(w, static_cast<std::uint64_t>(high - low));
  for (std::int64_t n = low; n < w.low; ++n) new (&w.cells[static_cast<std::uint64_t>(n) & w.mask]) Cell();
  for (std::int64_t n = w.high; n < high; ++n) new (&w.cells[static_cast<std::uint64_t>(n) & w.mask]) Cell();
  count_ += static_cast<std::uint64_t>(high - low) - static_cast<std::uint64_t>(w.high - w.low);
  w.low = low, w.high = high;
}

// ---- elements ----

Cells::Block* Cells::block_of(void* elements) {
  return reinterpret_cast<Block*>(static_cast<char*>(elements) - alignment);
}

void Cells::add_blocks(std::uint32_t pool) {
  const std::uint64_t size = alignment + (pools_[pool].bytes + alignment - 1) / alignment * alignment;
  const std::uint64_t count = std::max<std::uint64_t>(slab_bytes / size, 1);
  auto* const memory = static_cast<char*>(allocate(size * count));
  slabs_.push_back({memory, size * count});
  for (std::uint64_t k = count; k-- > 0;) {
    auto* const block = new (memory + k * size) Block{pools_[pool].free, 0, pool};
    pools_[pool].free = block;
  }
}

void* Cells::make(Subject subject, Cell& cell) {
  if (sizes_[subject] <= sizeof cell.bits) {
    cell.bits = 0;
    cell.status = Status::small;
    return &cell.bits;
  }
  const std::uint32_t pool = pool_of_[subject];
  if (pools_[pool].free == nullptr) add_blocks(pool);
  Block* const block = pools_[pool].free;
  pools_[pool].free = block->next;
  block->count = 1;
  in_use_ += pools_[pool].bytes;
  cell.block = reinterpret_cast<char*>(block) + alignment;
  cell.status = Status::own;
  return cell.block;
}

void Cells::share(Subject subject, Cell& to, const Cell& from) {
  if (from.status == Status::elsewhere) return refer(subject, to, from.memory);
  to.bits = from.bits;
  to.status = from.status;
  if (from.status != Status::own) return;
  to.block = from.block;
  ++block_of(to.block)->count;
}

void Cells::refer(Subject subject, Cell& to, const void* memory) {
  if (sizes_[subject] <= sizeof to.bits) {
    std::memcpy(make(subject, to), memory, sizes_[subject]);
    return;
  }
  to.memory = memory;
  to.status = Status::elsewhere;
}

void Cells::drop(Cell& cell) {
  if (cell.status == Status::own) {
    Block* const block = block_of(cell.block);
    if (--block->count == 0) {
      block->next = pools_[block->pool].free;
      pools_[block->pool].free = block;
      in_use_ -= pools_[block->pool].bytes;
    }
  }
  cell = Cell();
}

void Cells::sweep(std::int64_t now, std::int64_t floor) {
  floor_ = std::max(floor_, floor);
  const auto kept = [&](Place p) {
    const Window& w = windows_[p.subject];
    return p.instant() >= w.low && p.instant() < w.high && w.cells[p.cycle & w.mask].marked;
  };
  for (Window& w : windows_)
    for (std::int64_t n = w.low; n < w.high; ++n) {
      Cell& cell = w.cells[static_cast<std::uint64_t>(n) & w.mask];
      if (cell.marked && cell.status == Status::blocked && cell.waits_for.instant() <= now && !kept(cell.waits_for))
        cell.status = Status::unknown;
    }
  for (Window& w : windows_) {
    std::int64_t low = w.high, high = w.low;
    for (std::int64_t n = w.low; n < w.high; ++n) {
      Cell& cell = w.cells[static_cast<std::uint64_t>(n) & w.mask];
      if (cell.marked)
        low = std::min(low, n), high = n + 1;
      else
        drop(cell);
    }
    for (std::int64_t n = low; n < high; ++n) w.cells[static_cast<std::uint64_t>(n) & w.mask].marked = false;
    count_ -= static_cast<std::uint64_t>(w.high - w.low);
    if (low < high)
      w.low = low, w.high = high;
    else
      w.low = w.high;
    count_ += static_cast<std::uint64_t>(w.high - w.low);
  }
}

}  // namespace rml::rt::demand
