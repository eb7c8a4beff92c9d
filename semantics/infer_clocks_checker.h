// Clock inference, the shared state of its parts (infer_clocks*.cc).
//
// Problem: say at which cycles every expression is present (language.md section 3), and
// reject programs that combine streams of different clocks. Method: unification
// (infer_clocks_solver.h) over the equations of one node at a time, callees first; a
// node's clock scheme is what its interface leaves open, and its clocks may depend on its
// inputs and outputs. Equations that fix clocks (calls, merge, when, copies) go first, so
// that a mismatch is blamed on the operator that mixes clocks.
#pragma once

#include <string>
#include <vector>

#include "semantics/checked.h"
#include "semantics/infer_clocks_conditions.h"
#include "semantics/infer_clocks_solver.h"

namespace rml {

class ClockChecker {
 public:
  ClockChecker(const Program& program, const Resolved& names, const Typed& types, Diagnostics& diagnostics);
  Clocked run();

 private:
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

  // infer_clocks.cc
  void check_node(NodeId n);
  void check_external(const ast::Node& node, const ResolvedNode& resolved);
  void declare(const ast::TypeAnnotation& type, SolverClock clock, const std::string& name);
  void equation(const ast::Equation& equation, const std::vector<std::uint32_t>& targets);
  void define(std::uint32_t variable, const ast::Target& target, ExprId value, SolverClock clock);
  SolverClock expr(ExprId e);
  SolverClock form(ExprId e, const ast::Name& name);
  SolverClock form(ExprId, const ast::BoolLiteral&) { return solver_.fresh(); }
  SolverClock form(ExprId, const ast::IntLiteral&) { return solver_.fresh(); }
  SolverClock form(ExprId, const ast::FloatLiteral&) { return solver_.fresh(); }
  SolverClock form(ExprId, const ast::TextLiteral&) { return solver_.fresh(); }
  SolverClock form(ExprId e, const ast::Unary& unary);
  SolverClock form(ExprId e, const ast::Binary& binary);
  SolverClock form(ExprId e, const ast::If& choice);
  SolverClock form(ExprId e, const ast::Fby& fby);
  SolverClock form(ExprId e, const ast::Post& post);
  SolverClock form(ExprId e, const ast::When& when);
  SolverClock form(ExprId e, const ast::Merge& merge);
  SolverClock form(ExprId e, const ast::Array& array);
  SolverClock form(ExprId e, const ast::Index& index);
  SolverClock form(ExprId e, const ast::Call& call);
  SolverClock form(ExprId, const ast::Error&) { return solver_.fresh(); }
  SolverClock joint(ExprId e, const std::vector<ExprId>& operands, Place place);
  void static_expr(ExprId e);

  // infer_clocks_call.cc
  std::vector<SolverClock> call(ExprId e, const std::vector<std::uint32_t>* targets);
  std::vector<SolverClock> node_call(ExprId e, NodeId callee, const std::vector<std::uint32_t>* targets);
  SolverClock param_call(ExprId e);
  SolverClock operator_call(ExprId e, OperatorId op);
  SolverClock translate(NodeId callee, ClockTermId term, const std::vector<SolverClock>& variables,
                        const std::vector<Condition>& conditions);
  bool mentions(NodeId callee, ClockTermId term, std::uint32_t variable) const;
  void check_unnamed(ExprId e, NodeId callee, const std::vector<std::uint32_t>& targets);

  // infer_clocks_interface.cc: from the solver to Clocked
  void check_interface(NodeId n);
  bool nameable(NodeId n, std::uint32_t variable);
  void settle(NodeId n);
  SolverClock main_clock(const ResolvedNode& resolved);
  ClockTermId exported(ClockedNode& out, SolverClock t);
  ClockTermId exported_end(ClockedNode& out, SolverClock t);

  // infer_clocks_report.cc
  Diagnostic& report(Code code, Span span, std::string message, std::string label = {});
  void mismatch(const Use& found, const Use& wanted, ClockSolver::Outcome outcome);
  bool report_sampled_branch(ExprId e, const ast::If& choice, SolverClock c, SolverClock on_true, SolverClock on_false);
  void mismatch_declared(std::uint32_t variable, const ast::TypeAnnotation& type, ExprId value, SolverClock found);
  Use use(ExprId e, SolverClock clock, Place place);
  std::string presence(SolverClock t);
  std::string condition_text(Condition c);
  void explain(Diagnostic& d, const Use& use);
  bool sampling(SolverClock from, SolverClock to, std::vector<Condition>& conditions);
  bool suggest_sampling(Diagnostic& d, const Use& slow, const Use& fast);

  const Program& program_;
  const Resolved& names_;
  const Typed& types_;
  Diagnostics& diagnostics_;
  Clocked result_;
  ClockSolver solver_;
  ConditionClasses conditions_;
  NodeId node_;
  bool failed_ = false;
  int static_depth_ = 0;                                      // inside an attribute: nothing is unified
  std::vector<SolverClock> variables_;                        // by variable index
  std::unordered_map<std::uint32_t, std::uint32_t> by_name_;  // Symbol to variable, made when first needed
  std::vector<std::pair<ExprId, SolverClock>> visited_;
  std::vector<std::pair<ExprId, std::vector<SolverClock>>> instantiated_;
  std::vector<ClockTermId> exported_;  // by SolverClock, of the node being settled
  std::uint32_t main_variable_ = 0;    // of its scheme
};

}  // namespace rml
