// What clock errors say.
//
// Both clocks are told in the user's words, "at every cycle" or "only when `c`". Where one
// stream is present at more cycles than the other, the mend is to sample it: the fix-it
// writes `x when c` for the conditions between the two clocks.
// Example: `di = k * do`, k at every cycle, do only when bp: at `k`, "`k` is present at every
// cycle, `do` only when `bp`", fix `k when bp`.
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

  // How an expression stands in its context: decides where a fix-it needs parentheses and
  // whether it is certain.
  enum class Place : std::uint8_t { operand, tight_operand, argument, condition };
  struct Use {
    ExprId expr;
    SolverClock clock;
    std::string name;  // "`k`"
    Place place = Place::operand;
    std::int32_t variable = -1;  // the one defined, where there is no expression
  };
  Use use(ExprId e, SolverClock clock, Place place) const;

  // Whether anything was reported.
  bool any() const { return any_; }

  void mismatch(const Use& found, const Use& wanted, ClockSolver::Outcome outcome);
  // An equation whose clock is not the declared one.
  void mismatch_declared(std::uint32_t variable, const ast::TypeAnnotation& type, ExprId value, SolverClock found);
  // A declared clock that something else rules out.
  void impossible_declaration(const std::string& name, const ast::TypeAnnotation& type, ClockCondition condition);
  // `if` on clock c with branches sampled as those of `merge` are: that is what was meant, and computes the same.
  //
  //   if c then (x when c) else 0.0       merge c (x when c) (0.0 when not c)
  struct Branch {
    ExprId expr;
    SolverClock clock;
    bool sampled;
  };
  void sampled_branches(ExprId e, const ast::If& choice, SolverClock c, const Branch& on_true, const Branch& on_false);
  // Result j of the call is bound to `_`, and the clock of `dependent` says that it is needed.
  void unnamed_result(const ast::Call& call, const ast::Node& callee, std::size_t j, const ast::Parameter& dependent);
  void not_iterable(const ast::Call& call, const ast::Node& callee);
  // The clock of a variable of the interface depends on what is not in it.
  void hidden_condition(std::uint32_t variable, ClockCondition condition);
  void never_present(std::uint32_t input);

 private:
  // Of a node that `diff` made: the variable is an argument of the optimiser, which does not sample it.
  bool unsampled_rate(const Variable& v);
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
