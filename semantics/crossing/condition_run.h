// The truth of conditions at one instant, for all values of the letters.
//
// The same instant is evaluated repeatedly, each time with other values of the letters; only
// letters that a query uses are varied. The initial state of the instant has the contents of
// memories, the promises, and the position in conditions that repeat.
//
//   run.begin(state);
//   do {
//     … run.truth(c) …
//     if (run.consistent()) … run.next() …
//   } while (run.other_letters());
#pragma once

#include "semantics/crossing/conditions.h"

namespace rml {

class ConditionRun {
 public:
  struct State {
    std::vector<std::int8_t> memories;    // value of each memory; -1: the memory had no instant yet
    std::vector<std::uint32_t> promises;  // codes of conditions that hold at this instant, sorted
    std::uint32_t instant = 0;            // position in the period that the repeating conditions have in common
  };

  // Evaluates the conditions on which the roots depend.
  ConditionRun(const Conditions&, const std::vector<Condition>& roots);

  State start() const;
  void begin(const State&);
  bool truth(Condition c) { return truth_of_cell(conditions_.leader(c).cell()) != c.negative(); }
  // True if each condition that a `post` promised at the previous instant holds now.
  bool consistent();
  State next();
  // The values of the letters (free Booleans) that queries have used.
  std::vector<std::pair<ValueId, bool>> letters() const;
  // Selects the next combination of values for the letters. False if all have been tried.
  bool other_letters();

  std::int64_t spent() const { return spent_; }

 private:
  struct Decision {
    std::uint32_t cell;
    bool holds;
  };
  void restart();
  bool truth_of_cell(std::uint32_t cell);
  bool decide(std::uint32_t cell);
  bool remembered(std::uint32_t cell);
  void find_memories(const std::vector<Condition>& roots);
  std::uint32_t folded(std::uint32_t instant) const;

  const Conditions& conditions_;
  std::vector<std::uint32_t> memories_;    // cells that are memories
  std::vector<std::uint32_t> place_;       // indexed by cell: its index among the memories
  std::uint32_t prefix_ = 0, period_ = 1;  // prefix and period of all repeating conditions together
  State state_;
  std::vector<std::int8_t> memo_;  // value of each cell at this instant; -1: not computed yet
  std::vector<std::uint32_t> known_, promising_;
  std::vector<Decision> decisions_;
  std::size_t taken_ = 0;  // number of earlier decisions repeated so far
  std::int64_t spent_ = 0;
};

}  // namespace rml
