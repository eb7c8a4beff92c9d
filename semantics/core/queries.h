// What many passes ask of a core: what a value applies, what its clock is sampled from, who uses it, what must be
// computed, and what that needs.
//
// A question is answered from the core as it stands when it is asked. `Uses` is a table, and tells how the core stood
// when it was made.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "semantics/core/core.h"

namespace rml {

// ---- values ----

// What v applies; null if it is no operator's result, or that of another operator (or row) than asked for. The pointer
// goes stale when values are added.
const core::Apply* apply_of(const Core&, ValueId);
const core::Apply* apply_of(const Core&, ValueId, OperatorId);
const core::Apply* apply_of(const Core&, ValueId, Lowering);
const core::Apply* apply_of(const Core&, ValueId, std::string_view op);

// The truth of a constant that is a Boolean scalar.
std::optional<bool> constant_truth(const Core&, ValueId);

// `fby true false` of scalars: true at the first instant of its clock, and at no other.
bool is_start(const Core&, ValueId);

// ---- clocks ----

// The clocks from `clock` outwards that are sampled from another, `clock` itself first; those from `until` on are left
// out. Base and never are sampled from nothing, so neither is ever among them. Each has a condition:
//
//   for (const ClockId c : ancestors(core, core[v].clock)) need(core[c].condition);
class Ancestors {
 public:
  class Iterator {
   public:
    using value_type = ClockId;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(const Core& core, ClockId at, ClockId until) : core_(&core), at_(at), until_(until) {}

    ClockId operator*() const { return at_; }
    Iterator& operator++() {
      at_ = (*core_)[at_].parent;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }
    friend bool operator==(const Iterator& i, std::default_sentinel_t) {
      return !i.at_.valid() || i.at_ == i.until_ || !(*i.core_)[i.at_].parent.valid();
    }

   private:
    const Core* core_ = nullptr;
    ClockId at_, until_;
  };

  Ancestors(const Core& core, ClockId clock, ClockId until) : first_(core, clock, until) {}
  Iterator begin() const { return first_; }
  static std::default_sentinel_t end() { return {}; }

 private:
  Iterator first_;
};

inline Ancestors ancestors(const Core& core, ClockId clock, ClockId until = base_clock) { return {core, clock, until}; }
// The same clocks as a list, outermost first: it stands while clocks are added.
std::vector<ClockId> path_to(const Core&, ClockId clock, ClockId from = base_clock);

// The nearest clock that both are on.
ClockId common_clock(const Core&, ClockId, ClockId);
// True if `clock` is `ancestor` or sampled from it.
bool within(const Core&, ClockId clock, ClockId ancestor);

// By value, whether some clock is sampled by it.
std::vector<bool> conditions(const Core&);

// ---- uses ----

// By value, the values that have it as an operand, in their order; one that has it twice is there twice. Ports, asserts
// and clocks are not told.
class Uses {
 public:
  explicit Uses(const Core&);
  // Values that were added since have no user.
  std::span<const ValueId> of(ValueId v) const;

 private:
  std::vector<std::uint32_t> first_;  // by value: where its users begin; one more, where the last ones end
  std::vector<ValueId> users_;
};

// ---- what must be computed ----

// What a run shows or keeps: outputs, asserts and parameters that training moves.
std::vector<ValueId> results(const Core&);
// Whether inputs may be given again: nothing has effects outside, as code in C may have.
bool is_repeatable(const Core&);
bool is_repeatable(const ExternalNode&);
// What stops a run where it fails, or hands in what other ranks wait for; what is never present does neither.
std::vector<ValueId> failing(const Core&);
// By value, whether any of the roots needs it: operands, conditions, and theirs.
std::vector<bool> reachable(const Core&, std::vector<ValueId> roots);
// Without the values, clocks, parameters and watches that neither results nor what may fail nor inputs need. Inputs are
// the interface and stay. What is left keeps its order.
Core remove_unreachable(Core);

}  // namespace rml
