// Where a component that looks ahead still has to: what its posts are needed for, as Boolean functions.
//
// A value is needed where a row, an assertion or a value that is needed asks for it; what a memory will keep is needed
// at once, for it may be asked for later. A post that is needed is open until its clock's next instant, where its
// operand is. Needs follow users, forward in time, so they are functions of conditions of the same instant and of which
// posts were open at the instant before: the letters. Posts that are open alike are one letter.
//
//   y = if q then (if e then x else post y) else post y, a column       open: not (q and e)
//   y = backfill(x, e), asked for where c                               open: not e and (c or open before)
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

  // The literals are those that may be asked for.
  NeedFunctions(const DependenceGraph&, const Components&, const std::vector<Literal>&);

  // False: they are too large. Nothing else may be asked for then.
  bool known() const { return known_ && !functions_.spent(); }

  // Whether a post of the component is open after an instant.
  Function open(std::uint32_t component);
  // The literal holds, and is present, at an instant of the clock.
  Function holds(Literal, ClockId);
  // A function that is the same at the instants of a clock, in every state that a run can be in.
  Function within(Function, ClockId);

  // A function that can be computed before the component is, and true wherever f is. `ahead`: of conditions that are
  // only known later as well.
  Function without_component(Function f, std::uint32_t component, bool ahead);

  // A letter: a condition, or that posts were open an instant before; what makes them so.
  struct Letter {
    Condition condition{};
    ValueId value{};  // of a condition; invalid: it is the first instant of `begun`
    ClockId begun{};
    bool before = false;
    Function next{};  // of `before`
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
  std::vector<bool> late_;      // by value: depends on a post of a component that looks ahead
  std::vector<bool> ahead_;     // by value: depends on any post
  std::vector<ValueId> posts_;  // late ones
  std::map<ValueId, std::uint32_t> class_of_;
  std::vector<Function> next_;        // by class of posts
  std::vector<ClockId> class_clock_;  // the nearest that all its posts are on
  std::vector<Function> need_;        // by value
  std::vector<ValueId> changed_;
  std::map<std::uint32_t, Function> by_cell_;
  std::vector<Letter> letters_;                             // `next` holds the class of posts
  std::map<std::uint32_t, std::uint32_t> cells_, classes_;  // to letters
  std::map<std::uint32_t, ValueId> starts_;                 // by cell: true at first instants
  Function reachable_ = BooleanFunctions::yes;              // of what is remembered
  bool known_ = false;
};

}  // namespace rml
