// Decides which loads of tensors may use the storage itself instead of a copy, which values are computed in the place
// where they are stored, and how long buffers live.
//
// `%4 := cell[0]` can be a pointer to the cell if nothing writes the cell before the last read of %4, or of a value
// that shares its memory through copies, reshapes and indices:
//
//   %4 := cell[0]; %6 := add %4 %5; cell[0] := %6      no copy: the store comes last
//   %4 := cell[0]; cell[0] := %5; cell[1] := %4        copied: %4 is read after the store
//
// A value may be computed where it is stored:
//
//   %4 := cell[0]; %6 := add %4 %5; cell[0] := %6      %6 is computed in the cell, element by element
//   %6 := matmul %4 %5; output y := %6                 %6 is computed in the caller's memory
//
// The memory of a value lives from its statement to the last statement that reads it. Values with disjoint lifetimes
// may share memory.
//
// Uses are ordered by one walk over the blocks of a region (a unit's instant, a sweep). The order is conservative: the
// two sides of a branch count as one after the other, and a value from before a loop that is used inside it is live to
// the loop's end. An operand of an inlined value is read where its user is computed. Statements that one loop may
// compute count as one for lifetimes. Regions follow one another.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "lowering/llvm/module/state_layout.h"
#include "lowering/steps/steps.h"

namespace rml::codegen {

class Aliasing {
 public:
  Aliasing(const steps::Program& program, const std::map<ValueId, steps::Window>& windows, const Target& target)
      : program_(program), windows_(windows), target_(target) {}
  // Adds a region: blocks that run once, in order, then one that is repeated (may be null).
  void add(std::initializer_list<const steps::Block*> once, const steps::Block* repeated);
  // True if the value that a LoadCell or LoadArray of a region loads must be copied.
  bool must_copy(const void* load) const { return copies_.contains(load); }
  // The lifetime of v's memory, within the last region that was added; unbounded if unknown.
  Lifetime lifetime(ValueId v) const {
    const auto at = lifetimes_.find(v.index);
    return at == lifetimes_.end() ? Lifetime{} : at->second;
  }
  // The lifetime of memory that a statement needs only while it runs.
  Lifetime during(const steps::Statement& s) const {
    const auto at = running_.find(&s);
    return at == running_.end() ? Lifetime{} : at->second;
  }
  Lifetime whole_region() const { return {begin_, end_}; }
  // The cell in which v is computed; invalid if there is none.
  CellId home(ValueId v) const {
    const auto at = homes_.find(v.index);
    return at == homes_.end() ? CellId{} : at->second;
  }
  // The output in whose memory v is computed, if any. Then v has no cell.
  std::optional<std::uint32_t> home_output(ValueId v) const {
    const auto at = output_homes_.find(v.index);
    return at == output_homes_.end() ? std::nullopt : std::optional(at->second);
  }

 private:
  struct Load {
    const void* statement;
    ValueId value;
    std::uint64_t place;
    std::size_t at;
  };
  struct Store {
    ValueId value;
    CellId cell;
    const steps::Block* block;
    std::size_t at;
  };
  struct Computed {
    const steps::Block* block;
    std::size_t at;
    bool in_place;  // true if the value shares memory with an operand
  };
  struct Region {
    std::size_t position, loop_begin = SIZE_MAX;
    std::unordered_map<std::uint32_t, std::size_t> defined, last_use;
    // Indexed by inlined value: position of its first use.
    std::unordered_map<std::uint32_t, std::size_t> first_use;
    std::vector<std::pair<const steps::Statement*, std::size_t>> statements;  // each statement with its position
    std::vector<std::pair<std::size_t, std::size_t>> runs;                    // first and last statement of each loop
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> writes;       // positions of the writes to each place
    std::vector<std::pair<ValueId, ValueId>> same;  // (owner of the memory, value that shares it)
    std::vector<ValueId> used_from_before_loop;
    std::vector<Load> loads;
    std::vector<Store> stores;
    std::vector<std::pair<const steps::StoreOutput*, const steps::Block*>> outputs;
    std::unordered_map<std::uint32_t, Computed> computed;  // values in memory of their own
  };
  void walk(Region&, const steps::Block&) const;
  bool inlined(ValueId v) const { return v.index < program_.inlined.size() && program_.inlined[v.index]; }
  void use(Region&, ValueId) const;
  void compute(Region&, ValueId, const steps::Block&) const;
  void find_home(const Region&, const Store&);
  void find_runs(Region&) const;
  void find_lifetimes(const Region&);
  bool reads_whole(ValueId v, ValueId user, const std::unordered_set<std::uint32_t>& same) const;

  const steps::Program& program_;
  const std::map<ValueId, steps::Window>& windows_;  // values that are computed in the cells of windows
  const Target& target_;
  std::unordered_set<const void*> copies_;
  std::unordered_map<std::uint32_t, CellId> homes_;
  std::unordered_map<std::uint32_t, std::uint32_t> output_homes_;
  std::unordered_map<std::uint32_t, Lifetime> lifetimes_;
  std::unordered_map<const steps::Statement*, Lifetime> running_;
  std::size_t begin_ = 0, end_ = 0;  // first and last position of the region that was added last
};

}  // namespace rml::codegen
