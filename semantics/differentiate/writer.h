// The derived node during its construction: the equations of the original, in which some
// subexpressions get names and some calls change, then the equations of the gradient in the order
// of their construction.
//
//   o = w * tanh(k * i);      part = tanh(k * i);  o = w * part;  …  dk = do * w * (1.0 - part * part) * i;
//
// The gradient refers to forward values by the expressions of the original; such a value gets a
// name.
#pragma once

#include <map>
#include <variant>
#include <vector>

#include "semantics/check/call_identities.h"
#include "semantics/check/syntax.h"
#include "semantics/differentiate/facts.h"

namespace rml::derivation {

// The replacement of a call of the original: its results, and a call of another node with the
// same arguments and more. It may have another kind of iteration and more sequences.
struct ChangedCall {
  std::vector<ast::Target> targets;
  NodeId callee;
  std::vector<ExprId> more;
  std::optional<ast::Iteration::Kind> kind = {};
  std::vector<ExprId> sequences = {};
};

// The replacement of a parameter: one that changes by `step` where `act` holds.
struct MovedParameter {
  ast::Target target;
  Symbol act, step;
};

class GradientWriter : public NodeWriter {
 public:
  GradientWriter(Program& program, const NodeFacts& node, const std::string& name);

  // Sets the current equation of the original: new names derive from its name, and their
  // equations precede it.
  void at_equation(std::size_t q) { equation_at_ = q; }
  std::size_t equation_at() const { return equation_at_; }

  // Forward values: `value` as an expression that may be written again, `sampled` where `act`
  // holds.
  ExprId value(ExprId e);
  ExprId sampled(ExprId e, Symbol act);
  // The name of e, which may be new.
  Symbol named(ExprId e);
  Symbol hoist(ExprId e);
  bool is_hoisted(ExprId e) const { return hoisted_.contains(e); }
  // Writes e as s from now on; both have the same value.
  void write_as(ExprId e, Symbol s) { hoisted_.emplace(e, s); }
  // The results of a call. If the call is not the whole right-hand side, it gets a name.
  std::vector<ast::Target> results(ExprId call);
  void change(ExprId call, ChangedCall to) { changed_[call] = std::move(to); }
  void change(ExprId parameter, MovedParameter to) { changed_[parameter] = std::move(to); }

  // An adjoint that is present where `act` holds, and zero elsewhere.
  ExprId padded(Symbol act, ExprId adjoint) { return merge(act, adjoint, zero()); }
  ExprId zeros_like(Symbol s) { return call("zeros_like", {name(s)}); }
  ExprId shape_of(ExprId value) { return call("shape", {value}); }
  // A name for the adjoint, so that it may be written twice.
  ExprId name_of(ExprId adjoint);
  Symbol symbol_of(ExprId adjoint);

  Symbol new_input(const std::string& base) { return input(fresh(base)); }
  // Gives a variable of the derived node an output's name. A local variable that has the name
  // gets another one, because the printed node identifies gradients by these names.
  void new_output(Symbol s, const std::string& wanted);

  // In the finished node, each use of s becomes a use of `by`.
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
  std::map<ExprId, Symbol> hoisted_;  // subexpressions of forward equations that got names
  // By equation: the hoisted expressions that precede it.
  std::map<std::size_t, std::vector<ExprId>> before_;
  std::map<ExprId, std::variant<ChangedCall, MovedParameter>> changed_;
  void change_names();

  std::set<Symbol> outputs_;  // names of the outputs that follow those of the original node
  std::map<Symbol, Symbol> replaced_;
  // From an output to the variable that had its name, and from that variable to the output.
  std::map<Symbol, Symbol> exchanged_;
};

}  // namespace rml::derivation
