// The layout of the state of a compiled program.
//
//   rml_header | cells | packs | output slots | parameter slots | queues | units | arrays | scratch
//
// Small cells come first, densely and with the largest elements first, so that a step function touches few cache lines.
// Tensors of more than Target::unrolled_elements elements are aligned to 64 bytes. All functions share the scratch,
// because no function runs while another one's scratch is live. Within a function, buffers with disjoint lifetimes
// share it as well.
//
// In a bare state (the C interface of a straight program that needs no header) the cells come first: offsets are the
// same, less `bias`. If cells may be apart from the state (rml_program::apart), these cells come before all others and
// without gaps, because they exist once per state.
#pragma once

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>

#include <algorithm>

#include "lowering/llvm/module/emit_options.h"
#include "lowering/steps/steps.h"

namespace rml::codegen {

// A ring: data, capacity (a power of two, in elements), elements pushed so far, and for each reader the number of
// elements it is done with. In a network: an rml_ring.
struct QueueLayout {
  std::uint64_t data, capacity, pushed, cursors;
  std::uint64_t apart = 8;  // bytes between two cursors
  std::uint64_t cursor(std::uint32_t reader) const { return cursors + apart * reader; }
};
struct UnitLayout {
  std::uint64_t cycle;     // number of instants so far; for units on base: the current cycle
  std::uint64_t length;    // length of the current segment
  std::uint64_t capacity;  // number of elements that every array of the unit has room for
  std::uint64_t start;     // cycle at which the current segment began
  std::uint64_t arrays;    // offset of records {data, bytes}, one per array of the unit, in order
  std::vector<std::uint32_t> array_ids;
  // For networks only.
  std::uint64_t header = 0;   // the task's own header
  std::uint64_t pending = 0;  // offset of a byte that is 1 if the segment is complete
};

// Positions of statements, both inclusive. The default is unbounded.
struct Lifetime {
  std::size_t from = 0, to = SIZE_MAX;
};

struct StateLayout {
  // loadable: parameters have slots, through which values can be loaded. cells_apart: cells may be apart from the
  // state. packs: the bytes of each.
  struct Asked {
    bool loadable, cells_apart;
    const std::map<ValueId, steps::Window>& windows;
  };
  StateLayout(const steps::Program&, const Target&, const llvm::DataLayout&, llvm::StructType* header, Asked,
              const std::vector<std::uint64_t>& packs);

  std::uint64_t header_bytes = 0;
  // Number subtracted from every offset: header_bytes in a bare state, else 0.
  std::uint64_t bias = 0;
  // Number of bytes from header_bytes on that may be apart from the state.
  std::uint64_t apart = 0;
  std::vector<std::uint64_t> cells;              // offset of each cell; a window is preceded by its rml_window
  std::vector<std::uint64_t> packs, pack_flags;  // offsets; a flag is a byte that is 0 unless the pack equals its cell
  std::vector<std::uint64_t> output_values, output_flags;  // offsets of the outputs, for straight programs
  // One per row of Program::parameters: offset of its slot; empty if parameters cannot be loaded.
  std::vector<std::uint64_t> slots;
  std::vector<QueueLayout> queues;
  std::vector<UnitLayout> units;
  std::vector<std::uint64_t> arrays;                 // offset of each array's record
  static constexpr std::uint64_t record_bytes = 16;  // size of a record {data, bytes}
  std::uint64_t fixed_bytes = 0;                     // end of all of the above: the bytes that init sets

  bool is_apart(std::uint64_t offset) const { return offset >= header_bytes && offset - header_bytes < apart; }

  // Starts the scratch of a task. Tasks run concurrently, so functions from here on share scratch after that of all
  // earlier tasks.
  void begin_task() { scratch_begin_ = (end_ + 63) / 64 * 64; }
  // Starts the scratch memory of the function that is emitted next.
  void begin_function() { taken_.clear(); }
  std::uint64_t scratch(std::uint64_t bytes, Lifetime);
  // Offset of memory that follows the scratch of all functions so far.
  std::uint64_t scratch_behind_all(std::uint64_t bytes);
  // Extends the state to the scratch of a program over the same state.
  void cover(const StateLayout& other) { end_ = std::max(end_, other.end_); }
  MemoryUse memory_use() const { return {state_bytes(), fixed_bytes - header_bytes, end_ - fixed_bytes}; }
  std::uint64_t state_bytes() const { return (end_ + 7) / 8 * 8 - bias; }
  // The size of NODE_state. Outputs are stored by the caller, so without scratch the state consists of its cells.
  std::uint64_t step_bytes() const { return end_ == fixed_bytes ? cells_end_ - bias : state_bytes(); }
  static constexpr std::uint64_t state_align = 64;

 private:
  std::uint64_t place(std::uint64_t bytes, std::uint64_t align);
  void place_cells(const steps::Program&, const Target&, const Asked&);
  void place_outputs(const steps::Program&, const Target&);
  void place_queues(const steps::Program&);
  void place_units(const steps::Program&);
  struct Taken {
    std::uint64_t begin, end;
    Lifetime lifetime;
  };
  std::vector<Taken> taken_;  // the taken ranges, by address
  std::uint64_t cells_end_ = 0, end_ = 0, scratch_begin_ = 0;
};

}  // namespace rml::codegen
