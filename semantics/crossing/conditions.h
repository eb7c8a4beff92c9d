// Conditions of a core as cells: what decides at an instant which branches are taken and which clocks tick.
//
// Constants, `and`, `or`, `not`, equality of Booleans, choices and samplings are followed; a `fby` is a memory, a
// `post` on the base clock promises what its operand will be at the next instant. What depends on no input is run until
// it repeats itself. All else is a letter: it may hold or not at any instant, whatever it was before. So of a few
// memories only is it known what they keep; further ones are letters, as are memories that a post decides, which may
// contradict themselves.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "semantics/core/core.h"
#include "semantics/crossing/simulate.h"

namespace rml {

// A cell and a sign.
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
    Condition a, b, c;  // conjunction: a and b; choice: a ? b : c; memory: a, later the b of before; ahead: the next a
    Condition present{};      // memory: where it has an instant
    std::uint32_t index = 0;  // repeated: among the lassos
    ValueId value{};          // that it is of, where it is of one
  };

  explicit Conditions(const Core&);

  // A Boolean scalar, where it is present.
  Condition holds(ValueId);
  // Whether the clock has this cycle; and, where it has, whether this is its first instant.
  Condition ticks(ClockId);
  Condition begins(ClockId);
  Condition both(Condition, Condition);
  Condition either(Condition a, Condition b) { return !both(!a, !b); }
  Condition choice(Condition, Condition, Condition);

  // When all conditions have been asked for: what their memories keep, and which are the same.
  void close();
  // The same for all that are the same. Of what has been asked for before they were closed.
  Condition leader(Condition c) const { return {leaders_.at(c.cell()) << 1 | (c.code & 1)}; }

  // The clock whose first instant a cell is, or one that is the same.
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
  std::size_t followed_ = 0;  // memories, but for the beginnings of clocks
  std::vector<Lasso> lassos_;
  std::vector<std::uint32_t> leaders_;                                   // by cell
  std::unordered_map<std::uint32_t, Condition> known_, ticks_, begins_;  // by value, by clock
  std::unordered_map<std::uint64_t, Condition> conjunctions_;
  std::vector<std::uint32_t> open_;  // memories and posts whose operands are not looked at yet
  std::vector<bool> bound_;          // by value: depends on inputs, draws, calls or posts
  int depth_ = 0;
};

}  // namespace rml
