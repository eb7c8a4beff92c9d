// Assigns offsets in the state: consecutive ones for declared storage, the first gap for scratch.
#include "lowering/llvm/module/state_layout.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "lowering/llvm/module/ir_types.h"
#include "runtime/base/rmlrt.h"

namespace rml::codegen {

std::uint64_t StateLayout::place(std::uint64_t bytes, std::uint64_t align) {
  end_ = (end_ + align - 1) / align * align;
  const std::uint64_t at = end_;
  end_ += bytes;
  return at;
}

// The first gap among buffers with overlapping lifetimes. Requests come in the order of their beginnings, so buffers
// whose lifetimes have ended are forgotten.
std::uint64_t StateLayout::scratch(std::uint64_t bytes, Lifetime lifetime) {
  std::erase_if(taken_, [&](const Taken& t) { return t.lifetime.to < lifetime.from; });
  std::uint64_t at = scratch_begin_;
  for (const Taken& t : taken_) {
    if (lifetime.to < t.lifetime.from) continue;
    if (at + bytes <= t.begin) break;
    at = std::max(at, (t.end + 63) / 64 * 64);
  }
  taken_.insert(std::ranges::upper_bound(taken_, at, {}, &Taken::begin), {at, at + bytes, lifetime});
  end_ = std::max(end_, at + bytes);
  return at;
}

std::uint64_t StateLayout::scratch_behind_all(std::uint64_t bytes) {
  const std::uint64_t at = (end_ + 63) / 64 * 64;
  end_ = at + bytes;
  return at;
}

StateLayout::StateLayout(const steps::Program& program, const Target& target, const llvm::DataLayout& data,
                         llvm::StructType* header, Asked asked, const std::vector<std::uint64_t>& pack_sizes) {
  header_bytes = (data.getStructLayout(header)->getSizeInBytes() + 63) / 64 * 64;
  end_ = header_bytes;
  place_cells(program, target, asked);
  if (apart > UINT32_MAX || header_bytes != RML_CELLS_AT) apart = 0;
  for (std::size_t k = 0; k < pack_sizes.size(); ++k) pack_flags.push_back(place(1, 1));
  for (const std::uint64_t size : pack_sizes) packs.push_back(place(size, 64));
  cells_end_ = end_;
  place_outputs(program, target);
  for (std::size_t p = 0; asked.loadable && p < program.parameters.size(); ++p) slots.push_back(place(8, 8));
  place_queues(program);
  place_units(program);
  fixed_bytes = end_;
  begin_task();
}

void StateLayout::place_cells(const steps::Program& program, const Target& target, const Asked& asked) {
  const bool are_apart = asked.cells_apart;
  cells.resize(program.cells.size());
  std::vector<bool> is_window(cells.size(), false);
  for (const auto& [value, window] : asked.windows) is_window[window.cell.index] = true;
  std::vector<std::size_t> order(cells.size());
  std::iota(order.begin(), order.end(), 0);
  const auto large = [&](std::size_t k) { return elements(program.cells[k].shape) > target.unrolled_elements; };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (are_apart && is_window[a] != is_window[b]) return static_cast<bool>(is_window[b]);
    if (large(a) != large(b)) return large(b);
    const std::size_t size_a = byte_size(program.cells[a].dtype), size_b = byte_size(program.cells[b].dtype);
    return size_a != size_b ? size_a > size_b : a < b;
  });
  for (const std::size_t k : order) {
    const steps::CellInfo& cell = program.cells[k];
    if (cell.local) continue;
    const std::uint64_t size = bytes(cell.dtype, cell.shape);
    const std::uint64_t align = large(k) && !are_apart ? 64 : byte_size(cell.dtype);
    cells[k] = is_window[k] ? place(sizeof(rml_window) + 2 * size, 64) : place(size, align);
    if (are_apart && !is_window[k]) apart = (end_ - header_bytes + 7) / 8 * 8;
  }
  end_ = std::max(end_, header_bytes + apart);
}

void StateLayout::place_outputs(const steps::Program& program, const Target& target) {
  if (!program.straight) return;
  for (const Port& port : program.core->outputs) {
    const Value& value = (*program.core)[port.value];
    const bool large = elements(value.shape) > target.unrolled_elements;
    output_values.push_back(place(bytes(value.dtype, value.shape), large ? 64 : byte_size(value.dtype)));
  }
  for (std::size_t k = 0; k < program.core->outputs.size(); ++k) output_flags.push_back(place(1, 1));
}

void StateLayout::place_queues(const steps::Program& program) {
  for (const steps::QueueInfo& queue : program.queues) {
    QueueLayout at{};
    if (program.network) {
      at.data = place(sizeof(rml_ring), RML_RING_LINE);
      at.capacity = at.data + offsetof(rml_ring, capacity);
      at.pushed = at.data + offsetof(rml_ring, pushed);
      at.cursors = place(RML_RING_LINE * std::uint64_t{queue.readers}, RML_RING_LINE);
      at.apart = RML_RING_LINE;
      queues.push_back(at);
      continue;
    }
    at.data = place(8, 8);
    at.capacity = place(8, 8);
    at.pushed = place(8, 8);
    at.cursors = place(8 * std::uint64_t{queue.readers}, 8);
    queues.push_back(at);
  }
}

void StateLayout::place_units(const steps::Program& program) {
  arrays.resize(program.arrays.size());
  for (std::size_t u = 0; u < program.units.size(); ++u) {
    UnitLayout at{};
    if (program.network) {
      at.header = place(header_bytes, 64);
      at.pending = place(1, 1);
    }
    if (!program.straight) at.cycle = place(8, 8);
    if (program.units[u].segmented) {
      at.length = place(8, 8);
      at.capacity = place(8, 8);
      at.start = place(8, 8);
      at.arrays = place(0, 16);
      for (std::size_t a = 0; a < arrays.size(); ++a) {
        if (program.arrays[a].unit != u) continue;
        arrays[a] = place(record_bytes, 16);
        at.array_ids.push_back(static_cast<std::uint32_t>(a));
      }
    }
    units.push_back(at);
    if (program.network) place(0, 64);
  }
}

}  // namespace rml::codegen
