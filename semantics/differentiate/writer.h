// The derived node while it is written: the equations of the original, in which some parts get names and some calls
// change, then the equations of the gradient, in the order in which they are made.
//
//   o = w * tanh(k * i);      part = tanh(k * i);  o = w * part;  …  dk = do * w * (1.0 - part * part) * i;
//
// What the gradient needs of the forward pass is asked for by the original's expressions; it gets a name there.
#pragma once

#include <map>
#include <variant>
#include <vector>

#include "semantics/check/call_identities.h"
#include "semantics/check/syntax.h"
#include "semantics/differentiate/facts.h"

namespace rml::derivation {

// What takes the place of a call of the original: its results, a call of another node with the same arguments and
// more. It may be iterated otherwise, and over more sequences.
struct ChangedCall {
  std::vector<ast::Target> targets;
  NodeId callee;
  std::vector<ExprId> more;
  std::optional<ast::Iteration::Kind> kind = {};
  std::vector<ExprId> sequences = {};
};

// What takes the place of a parameter: one that moves by `step` where `act` holds.
struct MovedParameter {
  ast::Target target;
  Symbol act, step;
};

class GradientWriter : public NodeWriter {
 public:
  GradientWriter(Program& program, const NodeFacts& node, const std::string& name);

  // The equation of the original at hand: what gets a name is named after it, and stands before it.
  void at_equation(std::size_t q) { equation_at_ = q; }
  std::size_t equation_at() const { return equation_at_; }

  // Values of the forward pass: as they may be written again, and where act holds.
  ExprId value(ExprId e);
  ExprId sampled(ExprId e, Symbol act);
  // The name of e, which may be new.
  Symbol named(ExprId e);
  Symbol hoist(ExprId e);
  bool is_hoisted(ExprId e) const { return hoisted_.contains(e); }
  // e is written as s: another expression of the same value.
  void write_as(ExprId e, Symbol s) { hoisted_.emplace(e, s); }
  // The results of a call, which is a whole right-hand side or gets a name.
  std::vector<ast::Target> results(ExprId call);
  void change(ExprId call, ChangedCall to) { changed_[call] = std::move(to); }
  void change(ExprId parameter, MovedParameter to) { changed_[parameter] = std::move(to); }

  // An adjoint that is present where act holds, and zero elsewhere.
  ExprId padded(Symbol act, ExprId adjoint) { return merge(act, adjoint, zero()); }
  ExprId zeros_like(Symbol s) { return call("zeros_like", {name(s)}); }
  ExprId shape_of(ExprId value) { return call("shape", {value}); }
  // The adjoint as something that may be written twice, a name.
  ExprId name_of(ExprId adjoint);
  Symbol symbol_of(ExprId adjoint);

  Symbol new_input(const std::string& base) { return input(fresh(base)); }
  // A variable of the derived node under an output's name, unless it has it. Gradients are known by these names where
  // the node is written out, so a local variable that has one gives it away.
  void new_output(Symbol s, const std::string& wanted);

  // Every use of s is one of `by`, in the end.
  void replace(Symbol s, Symbol by) { replaced_.emplace(s, by); }

  ast::Node finish();

 private:
  ExprId copy_original(ExprId e);
  ExprId copy_parts(ExprId e);
  ast::Call identified(ExprId call) const;
  ast::Equation forward_equation(ExprId e, std::vector<ast::Target> targets, Span span);
  ast::Equation changed(ExprId e, const ChangedCall& to);
  ast::Equation changed(ExprId e, const MovedParameter& to);

  const NodeFacts& original_;
  const CallIdentities identities_;
  std::size_t equation_at_ = 0;
  std::map<ExprId, Symbol> hoisted_;                   // parts of forward equations that got names
  std::map<std::size_t, std::vector<ExprId>> before_;  // they stand before these equations
  std::map<ExprId, std::variant<ChangedCall, MovedParameter>> changed_;
  void change_names();

  std::set<Symbol> outputs_;  // behind those of the original
  std::map<Symbol, Symbol> replaced_;
  std::map<Symbol, Symbol> exchanged_;  // both ways: an output, and a variable that has the output's name
};

}  // namespace rml::derivation
