// Conditions of a core as cells: they decide which branches are taken and which clocks tick at an
// instant.
//
// Cells follow constants, `and`, `or`, `not`, equality of Booleans, choices and samplings. A
// `fby` is a memory. A `post` on the base clock is a promise about its operand at the next
// instant. A condition that depends on no input is run until it repeats. Everything else is a
// letter, which may have either value at any instant. Only a few memories are followed; the
// others are letters, and so are memories that depend on a post, because they may contradict
// themselves.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "semantics/core/core.h"
#include "semantics/crossing/simulate.h"

namespace rml {

// A cell, possibly negated.
struct Condition {
  std::uint32_t code = 0;
  Condition operator!() const { return {code ^ 1}; }
  std::uint32_t cell() const { return code >> 1; }
  bool negative() const { return (code & 1) != 0; }
  friend bool operator==(Condition, Condition) = default;
};

class Conditions {
 public:
  static constexpr Condition no{0}, yes{1};

  struct Cell {
    enum Kind : std::uint8_t { constant, letter, conjunction, choice, memory, ahead, repeated } kind;
    // conjunction: a and b; choice: a ? b : c; memory: a, later b of one instant before; ahead: a
    // at the next instant
    Condition a, b, c;
    Condition present{};      // for a memory: the condition under which it has an instant
    std::uint32_t index = 0;  // for a repeated condition: index of its lasso
    ValueId value{};          // the core value of the cell, if it has one
  };

  explicit Conditions(const Core&);

  // The value of a Boolean scalar where it is present.
  Condition holds(ValueId);
  // ticks: true if the clock has this cycle. begins: true if this is then its first instant.
  Condition ticks(ClockId);
  Condition begins(ClockId);
  Condition both(Condition, Condition);
  Condition either(Condition a, Condition b) { return !both(!a, !b); }
  Condition choice(Condition, Condition, Condition);

  // Call after all conditions have been requested: completes the memories and finds equal cells.
  void close();
  // A representative of all equal conditions. c must have been requested before close().
  Condition leader(Condition c) const { return {leaders_.at(c.cell()) << 1 | (c.code & 1)}; }

  // The clock whose first instant the cell represents, or an equal clock.
  ClockId begun(std::uint32_t cell) const;

  const Cell& operator[](std::uint32_t cell) const { return cells_[cell]; }
  std::size_t size() const { return cells_.size(); }
  const std::vector<Lasso>& lassos() const { return lassos_; }

 private:
  Condition add(Cell);
  Condition define(ValueId);
  Condition apply(ValueId, const core::Apply&);
  Condition letter(ValueId);
  Condition memory(ValueId);
  Condition ahead(ValueId);
  bool boolean(ValueId v) const { return core_[v].dtype == DType::boolean && core_[v].shape.empty(); }
  void find_bound();
  void free_contradictions();
  void find_leaders();

  const Core& core_;
  std::vector<Cell> cells_;
  std::size_t followed_ = 0;  // number of memories, except starts of clocks
  std::vector<Lasso> lassos_;
  // Indexed by cell: the first cell that is known to be equal.
  std::vector<std::uint32_t> leaders_;
  // Cells by value; presence and first instant of a clock, by clock.
  std::unordered_map<std::uint32_t, Condition> known_, ticks_, begins_;
  std::unordered_map<std::uint64_t, Condition> conjunctions_;
  std::vector<std::uint32_t> open_;  // memories and posts whose operands are to be processed
  std::vector<bool> bound_;          // one per value: true if it depends on inputs, draws, calls or posts
  int depth_ = 0;
};

}  // namespace rml
