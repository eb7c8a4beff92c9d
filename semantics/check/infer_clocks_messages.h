// Messages about clocks.
//
// A message describes both clocks in the user's words, "at every cycle" or "only when `c`". If
// one stream is present at more cycles than the other, the fix-it samples it: it writes `x when
// c` for the conditions between the two clocks. Example: `di = k * do`, k at every cycle, do only
// when bp. The message at `k` is "`k` is present at every cycle, `do` only when `bp`", with the
// fix `k when bp`.
#pragma once

#include <string>
#include <vector>

#include "semantics/check/infer_clocks_node.h"

namespace rml {

class ClockMessages {
 public:
  ClockMessages(const Program& program, const Resolved& names, NodeClocks& clocks, Diagnostics& diagnostics)
      : program_(program),
        names_(names),
        clocks_(clocks),
        solver_(clocks.solver),
        conditions_(clocks.conditions),
        diagnostics_(diagnostics) {}

  // The syntactic context of an expression: it decides whether a fix-it needs parentheses and
  // whether the fix-it is certain.
  enum class Place : std::uint8_t { operand, tight_operand, argument, condition };
  struct Use {
    ExprId expr;
    SolverClock clock;
    std::string name;  // "`k`"
    Place place = Place::operand;
    std::int32_t variable = -1;  // the defined variable, if there is no expression
  };
  Use use(ExprId e, SolverClock clock, Place place) const;

  // True if a message was reported.
  bool any() const { return any_; }

  void mismatch(const Use& found, const Use& wanted, ClockSolver::Outcome outcome);
  // An equation whose clock differs from the declared one.
  void mismatch_declared(std::uint32_t variable, const ast::TypeAnnotation& type, ExprId value, SolverClock found);
  // A declared clock that contradicts another constraint.
  void impossible_declaration(const std::string& name, const ast::TypeAnnotation& type, ClockCondition condition);
  // An `if` on clock c whose branches are sampled like those of a `merge`. The fix-it is the
  // `merge`, which computes the same:
  //
  //   if c then (x when c) else 0.0       merge c (x when c) (0.0 when not c)
  struct Branch {
    ExprId expr;
    SolverClock clock;
    bool sampled;
  };
  void sampled_branches(ExprId e, const ast::If& choice, SolverClock c, const Branch& on_true, const Branch& on_false);
  // `merge` with a branch that is not sampled:
  //
  //   merge c x (0.0 fby y)               merge c (x when c) ((0.0 fby y) when not c)
  void unsampled_merge(ExprId e, const ast::Merge& merge, const Branch& on_true, const Branch& on_false);
  // Result j of the call is bound to `_`, and the clock of `dependent` says that it is needed.
  void unnamed_result(const ast::Call& call, const ast::Node& callee, std::size_t j, const ast::Parameter& dependent);
  void not_iterable(const ast::Call& call, const ast::Node& callee);
  // The clock of an interface variable depends on a variable outside the interface.
  void hidden_condition(std::uint32_t variable, ClockCondition condition);
  void never_present(std::uint32_t input);

 private:
  // True in a node that `diff` made if the variable is an argument of the optimiser, which does
  // not sample it.
  bool unsampled_rate(const Variable& v);
  // Reports the `merge` that gave a variable its clock, if the variable is the branch itself: it was meant to be
  // present at every cycle of the `merge`. False if there is none. The second form searches the variables on two
  // clocks.
  //
  //   large = x > 5.0;  y = merge large 5.0 x;       x is sampled by `large`, which is computed from x
  bool sampled_by_merge(std::uint32_t variable);
  bool sampled_by_merge(SolverClock a, SolverClock b);
  Diagnostic& report(Code code, Span span, std::string message, std::string label = {});
  const std::string& variable_name(std::int32_t variable) const;
  std::string presence(SolverClock t);
  std::string condition_text(ClockCondition c) const;
  void explain(Diagnostic& d, const Use& use);
  bool sampling(SolverClock from, SolverClock to, std::vector<ClockCondition>& conditions);
  bool suggest_sampling(Diagnostic& d, const Use& slow, const Use& fast);

  const Program& program_;
  const Resolved& names_;
  NodeClocks& clocks_;
  ClockSolver& solver_;
  ConditionClasses& conditions_;
  Diagnostics& diagnostics_;
  bool any_ = false;
};

}  // namespace rml
