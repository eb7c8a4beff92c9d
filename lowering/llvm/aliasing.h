// Which loads of tensors may hand out the storage itself instead of a copy.
//
// `%4 := cell[0]` can be a pointer to the cell as long as nothing writes the cell while %4,
// or a value that is the same tensor through copies and reshapes, is still to be read:
//
//   %4 := cell[0]; %6 := add %4 %5; cell[0] := %6      no copy: the store comes last
//   %4 := cell[0]; cell[0] := %5; cell[1] := %4        copied: %4 is read after the store
//
// And which values may be computed where they are stored:
//
//   %4 := cell[0]; %6 := add %4 %5; cell[0] := %6      %6 is computed in the cell, element by element
//
// Uses are ordered by one walk over the blocks of a region (a unit's instant, a pass); the
// two sides of a branch count as one after the other, and a value from before a loop that
// is used inside it is live to the loop's end: coarse, and on the safe side. An operand of
// an inlined value is read where its user is computed.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "lowering/steps.h"

namespace rml::codegen {

class Aliasing {
 public:
  explicit Aliasing(const steps::Program& program) : program_(program) {}
  // One region: blocks that run once, in order, then one that is repeated (may be null).
  void add(std::initializer_list<const steps::Block*> once, const steps::Block* repeated);
  // The statement is a LoadCell or LoadArray of a region.
  bool must_copy(const void* load) const { return copies_.contains(load); }
  // The cell in which v is computed, if any.
  CellId home(ValueId v) const {
    const auto at = homes_.find(v.index);
    return at == homes_.end() ? CellId{} : at->second;
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
  };
  struct Region {
    std::size_t position = 0, loop_begin = SIZE_MAX;
    std::unordered_map<std::uint32_t, std::size_t> defined, last_use;
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> writes;  // by place
    std::vector<std::pair<ValueId, ValueId>> same;                       // (from, to)
    std::vector<ValueId> used_from_before_loop;
    std::vector<Load> loads;
    std::vector<Store> stores;
    std::unordered_map<std::uint32_t, Computed> computed;  // elementwise, in memory
  };
  void walk(Region&, const steps::Block&) const;
  bool inlined(ValueId v) const { return v.index < program_.inlined.size() && program_.inlined[v.index]; }
  void use(Region&, ValueId) const;
  void compute(Region&, ValueId, const steps::Block&) const;
  void find_home(const Region&, const Store&);
  bool reads_whole(ValueId v, ValueId user, const std::unordered_set<std::uint32_t>& same) const;

  const steps::Program& program_;
  std::unordered_set<const void*> copies_;
  std::unordered_map<std::uint32_t, CellId> homes_;
};

}  // namespace rml::codegen
