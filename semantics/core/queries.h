// Queries that many passes need: the operator of a value, the ancestors of a clock, the users of
// a value, the values that must be computed and those that they need.
//
// The functions read the core as it is at the call. `Uses` is a table: it describes the core at
// the time when the table was made.
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

// The operator application that defines v. Null if v is no operator's result, or the result of
// another operator (or table row) than the given one. The pointer becomes invalid when values are
// added.
const core::Apply* apply_of(const Core&, ValueId);
const core::Apply* apply_of(const Core&, ValueId, OperatorId);
const core::Apply* apply_of(const Core&, ValueId, Lowering);
const core::Apply* apply_of(const Core&, ValueId, std::string_view op);

// The value of a constant Boolean scalar; nothing for other values.
std::optional<bool> constant_truth(const Core&, ValueId);

// True for `fby true false` of scalars: true at the first instant of its clock only.
bool is_start(const Core&, ValueId);

// ---- clocks ----

// The sampled clocks from `clock` outwards, starting with `clock` itself. Clocks from `until` on
// are left out. Base and never are not sampled, so they are never included; each included clock
// has a condition:
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
// The clock and its ancestors as a list, outermost first. The list remains valid while clocks are added.
std::vector<ClockId> path_to(const Core&, ClockId clock, ClockId from = base_clock);

// The nearest clock that is an ancestor of both, or one of them.
ClockId common_clock(const Core&, ClockId, ClockId);
// True if `clock` is `ancestor` or is sampled from it.
bool within(const Core&, ClockId clock, ClockId ancestor);

// By value: true if it is the condition of some clock.
std::vector<bool> conditions(const Core&);

// ---- uses ----

// By value, the values that have it as an operand, in order of ids. A user with two such operands
// appears twice. Ports, asserts and clocks do not count as users.
class Uses {
 public:
  explicit Uses(const Core&);
  // Values that were added after the table was made have no users in it.
  std::span<const ValueId> of(ValueId v) const;

 private:
  std::vector<std::uint32_t> first_;  // by value: index of its first user in `users_`; has one entry more at the end
  std::vector<ValueId> users_;
};

// ---- values that must be computed ----

// The values that a run shows or keeps: outputs, asserts, and parameters that training changes.
std::vector<ValueId> results(const Core&);
// True if a run may be repeated on the same inputs: no call can have outside effects, as C code
// can.
bool is_repeatable(const Core&);
bool is_repeatable(const ExternalNode&);
// Values that may stop the run, or that other ranks wait for. Values that are never present are
// left out.
std::vector<ValueId> failing(const Core&);
// By value: true if a root needs it, as an operand or as the condition of a clock, directly or
// not.
std::vector<bool> reachable(const Core&, std::vector<ValueId> roots);
// Removes the values, clocks, parameters and watches that no result, failing value or input
// needs. Inputs are the interface and always remain. The rest keeps its order.
Core remove_unreachable(Core);

}  // namespace rml
