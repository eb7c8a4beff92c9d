// Where everything lies in the state of a compiled program.
//
//   rml_header | cells | packs | output slots | parameter slots | queues | units | arrays | scratch
//
// Small cells come first and lie dense, largest elements first, so that a step function
// touches few cache lines; tensors of more than Target::unrolled_elements elements are aligned to 64
// bytes. All functions share the scratch, since none runs inside another while values of
// both are live; and within a function, what is not needed at the same time. In a bare state
// (the C interface of a straight program that needs no header) the cells come first:
// offsets are the same, less `bias`. Where cells may lie apart from the state (rml_program::apart), those that may come
// before all others, and without gaps, for there are as many of them as there are states.
#pragma once

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>

#include <algorithm>

#include "lowering/llvm/module/emit_options.h"
#include "lowering/steps/steps.h"

namespace rml::codegen {

// A ring: data, capacity (a power of two, in elements), elements pushed so far, and for
// each reader the number of elements it is done with. In a network: an rml_ring.
struct QueueLayout {
  std::uint64_t data, capacity, pushed, cursors;
  std::uint64_t apart = 8;  // one cursor from the next
  std::uint64_t cursor(std::uint32_t reader) const { return cursors + apart * reader; }
};
struct UnitLayout {
  std::uint64_t cycle;     // instants so far; of units on base: the current cycle
  std::uint64_t length;    // of the current segment
  std::uint64_t capacity;  // of every array of the unit, in elements
  std::uint64_t start;     // cycle at which the segment began
  std::uint64_t arrays;    // records {data, bytes}, one per array of the unit, in order
  std::vector<std::uint32_t> array_ids;
  // Networks only.
  std::uint64_t header = 0;   // the task's own
  std::uint64_t pending = 0;  // a byte: the segment is whole
};

// In positions of statements, both included; all the time: nothing known.
struct Lifetime {
  std::size_t from = 0, to = SIZE_MAX;
};

struct StateLayout {
  // loadable: there are slots through which parameters can be given. cells_apart: they may lie elsewhere.
  // packs: the size of each.
  struct Asked {
    bool loadable, cells_apart;
    const std::map<ValueId, steps::Window>& windows;
  };
  StateLayout(const steps::Program&, const Target&, const llvm::DataLayout&, llvm::StructType* header, Asked,
              const std::vector<std::uint64_t>& packs);

  std::uint64_t header_bytes = 0;
  std::uint64_t bias = 0;                        // taken off every offset: header_bytes in a bare state, else 0
  std::uint64_t apart = 0;                       // bytes from header_bytes on that may lie elsewhere
  std::vector<std::uint64_t> cells;              // of a window: its rml_window, behind which it lies
  std::vector<std::uint64_t> packs, pack_flags;  // a byte each: 0 unless it is like its cell
  std::vector<std::uint64_t> output_values, output_flags;  // straight programs
  std::vector<std::uint64_t> slots;                        // by Program::parameters; none if not loadable
  std::vector<QueueLayout> queues;
  std::vector<UnitLayout> units;
  std::vector<std::uint64_t> arrays;                 // the record of each array
  static constexpr std::uint64_t record_bytes = 16;  // of {data, bytes}
  std::uint64_t fixed_bytes = 0;                     // all of the above: what init sets

  bool is_apart(std::uint64_t offset) const { return offset >= header_bytes && offset - header_bytes < apart; }

  // What runs beside others has its own scratch: all functions from here on share what lies behind that of the others.
  void begin_task() { scratch_begin_ = (end_ + 63) / 64 * 64; }
  // Of the function that is being emitted.
  void begin_function() { taken_.clear(); }
  std::uint64_t scratch(std::uint64_t bytes, Lifetime);
  std::uint64_t scratch_behind_all(std::uint64_t bytes);  // that any function has taken
  // … and that any function of a program over the same state has.
  void cover(const StateLayout& other) { end_ = std::max(end_, other.end_); }
  MemoryUse memory_use() const { return {state_bytes(), fixed_bytes - header_bytes, end_ - fixed_bytes}; }
  std::uint64_t state_bytes() const { return (end_ + 7) / 8 * 8 - bias; }
  // Of NODE_state: outputs are the caller's, so without scratch the cells are all.
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
  std::vector<Taken> taken_;  // by address
  std::uint64_t cells_end_ = 0, end_ = 0, scratch_begin_ = 0;
};

}  // namespace rml::codegen
