// Need functions: Boolean functions that say where a component still has to look ahead.
//
// A value is needed where a row, an assertion or another needed value uses it. The next value of
// a memory is always needed, because it may be read later. A needed post is open until the next
// instant of its clock, where its operand is needed. Needs spread from users to operands, forward
// in time. So they are functions of conditions of the same instant, and of the posts that were
// open one instant earlier. These are the letters of the functions. Posts that are always open
// together share a letter.
//
//   y = if q then (if e then x else post y) else post y, a column       open: not (q and e)
//   y = backfill(x, e), needed where c                                  open: not e and (c or open before)
//
// A segment may end where no post of the component is open.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "semantics/core/components.h"
#include "semantics/core/dependence.h"
#include "semantics/crossing/conditions.h"
#include "semantics/values/boolean_functions.h"

namespace rml {

class NeedFunctions {
 public:
  using Function = BooleanFunctions::Function;

  // The literals are those that later calls may pass to holds().
  NeedFunctions(const DependenceGraph&, const Components&, const std::vector<Literal>&);

  // False if the functions are too large. Then the other functions must not be called.
  bool known() const { return known_ && !functions_.spent(); }

  // True where a post of the component is open after an instant.
  Function open(std::uint32_t component);
  // True where the literal is present and holds, at an instant of the clock.
  Function holds(Literal, ClockId);
  // A simpler function with the same values at the instants of the clock, in every reachable
  // state.
  Function within(Function, ClockId);

  // A function that can be computed before the component, and is true wherever f is. `ahead`: it
  // may also use conditions that are known only in later cycles.
  Function without_component(Function f, std::uint32_t component, bool ahead);

  // A letter: a condition, or the fact that posts were open one instant earlier, with its next
  // value.
  struct Letter {
    Condition condition{};
    ValueId value{};  // the condition that the letter stands for; invalid: the first instant of `begun`
    ClockId begun{};
    bool before = false;
    Function next{};  // for `before`: when the posts are open after this instant
  };
  Letter letter(std::uint32_t number) const;
  BooleanFunctions& functions() { return functions_; }

 private:
  void find_late();
  void ask_conditions(const std::vector<Literal>&);
  Function function(Condition);
  Function ticks(ClockId clock) { return function(conditions_.ticks(clock)); }
  Function open_before(ValueId post);
  Function open_after(ValueId post);
  void add_roots();
  void need(ValueId, Function);
  void need_clock(ClockId, Function where);
  void spread(ValueId);
  bool find_needs();
  void find_reachable();
  bool has_next(std::uint32_t letter, Function& first, Function& next);
  bool hangs_on(ValueId, std::uint32_t component) const;
  bool may_use(std::uint32_t letter, std::uint32_t component, bool ahead, std::set<std::uint32_t>& met) const;

  const DependenceGraph& graph_;
  const Core& core_;
  const Components& components_;
  Conditions conditions_;
  BooleanFunctions functions_;
  std::vector<bool> late_;      // one per value: it depends on a post of a component that looks ahead
  std::vector<bool> ahead_;     // one per value: it depends on any post
  std::vector<ValueId> posts_;  // the posts marked in late_
  std::map<ValueId, std::uint32_t> class_of_;
  std::vector<Function> next_;        // indexed by class of posts: true where they are open after the instant
  std::vector<ClockId> class_clock_;  // indexed by class of posts: nearest common clock
  std::vector<Function> need_;        // indexed by value: where it is needed
  std::vector<ValueId> changed_;
  std::map<std::uint32_t, Function> by_cell_;
  // Meaning of each letter; its `next` is that of the class of posts.
  std::vector<Letter> letters_;
  std::map<std::uint32_t, std::uint32_t> cells_, classes_;  // number of the letter of a cell, and of a class of posts
  std::map<std::uint32_t, ValueId> starts_;                 // indexed by cell: the value that is true at first instants
  // The states that can be reached, as a function of the letters that stand for memories.
  Function reachable_ = BooleanFunctions::yes;
  bool known_ = false;
};

}  // namespace rml
