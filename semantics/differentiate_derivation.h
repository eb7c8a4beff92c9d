// The derivation of one node's gradient: shared by its parts (differentiate_*.cc).
//
// The questions (what depends on what, of which shape) are in differentiate_analysis.cc,
// values and activities and the order of equations in differentiate_node.cc, what an
// operator, a parameter or an instance passes on in differentiate_expressions.cc.
#pragma once

#include "semantics/call_identities.h"
#include "semantics/differentiate_node.h"
#include "semantics/differentiate_rules.h"
#include "semantics/infer_clocks_conditions.h"

namespace rml::derivation {

template <class... F>
struct Cases : F... {
  using F::operator()...;
};
template <class... F>
Cases(F...) -> Cases<F...>;

using Variables = std::set<std::uint32_t>;

// What one use adds to the adjoint of a variable: present on the variable's clock where act holds.
struct Contribution {
  Symbol act;
  ExprId adjoint;
  // A sampling's: the adjoint of `x when [not] condition`, padded elsewhere.
  Symbol condition;
  bool positive = true;
  Symbol inner_act;
  ExprId inner;
  bool grounded = false;  // comes from an output's adjoint, not from a recurrence alone
};

struct Adjoint {
  Symbol act, value;
  bool given() const { return act.valid(); }
};

// The variables whose shapes broadcast to that of an expression.
using ShapeOf = std::set<std::uint64_t>;

// An adjoint on its way down: present where act holds, of the broadcast shape of `shape`.
struct Flow {
  Symbol act;
  ExprId adjoint;
  ShapeOf shape;
};

struct Sampling {
  Symbol act, condition;
  bool positive = true;
};

struct Application {
  ExprId self;
  const OperatorInfo* row = nullptr;
  std::vector<ExprId> arguments;  // in the row's order, a variadic one expanded
  ExprId operand;                 // the one whose adjoint is wanted
  std::size_t place = 0;          // among the row's operands
  std::size_t part = 0;           // among those of a variadic one
  Flow flow;
};

class NodeDerivation {
 public:
  NodeDerivation(Differentiation& owner, const DerivativeKey& key, Derivative& out)
      : owner_(owner),
        program_(owner.program()),
        checked_(owner.checked()),
        key_(key),
        out_(out),
        node_(program_[key.node]),
        resolved_(checked_.names.nodes[key.node.index]),
        typed_(checked_.types.nodes[key.node.index]),
        clocked_(checked_.clocks.nodes[key.node.index]),
        identities_(call_identities(program_, checked_.names, key.node)),
        conditions_(program_, checked_.names),
        fresh_(program_, node_),
        write_(program_) {}
  ast::Node run(const std::string& name);

 private:
  // preparation: what depends on what
  void prepare();
  bool float_variable(std::uint32_t v) const;
  bool float_expr(ExprId e) const;
  const Reference& reference(ExprId e) const;
  const ast::Expr& expr(ExprId e) const;
  bool varied(ExprId e);
  std::vector<std::pair<ExprId, std::size_t>> operands(ExprId e) const;
  bool flows_to(ExprId e);
  void adjoint_leaves(ExprId e, Variables& out);

  // names and shapes
  Symbol fresh(const std::string& base);
  const std::string& text(Symbol s) const;
  const std::string& variable_text(std::uint32_t v) const;
  const ShapeOf& shape_of_variable(std::uint32_t v);
  ShapeOf shape_of(ExprId e);
  static ShapeOf own_shape(ExprId e);
  bool elementwise(ExprId e) const;
  ExprId shape_expr(ExprId value);
  Flow reduced(Flow flow, ExprId e);

  // values of the forward pass
  bool is_static(ExprId e) const;
  ExprId value(ExprId e);
  Symbol named(ExprId e);
  Symbol hoist(ExprId e);
  void find_conditions(ExprId e);
  ExprId without_not(ExprId e) const;
  Symbol condition(ExprId e);
  bool keeps_all(Symbol c, bool positive) const;
  bool same_clock(ClockTermId a, ClockTermId b);
  ExprId sampled(ExprId e, Symbol act);
  ExprId copy(ExprId e);
  ExprId copy_parts(ExprId e);
  ast::Call identified(ExprId call);

  // activities
  void equation(Symbol left, ExprId right);
  Symbol derived(const std::string& key, const std::string& hint, const std::function<ExprId()>& right);
  static std::string id(Symbol s);
  Symbol act_when(Symbol act, Symbol c, bool positive);
  Symbol act_lift(Symbol act, Symbol c, bool positive);
  Symbol act_if(Symbol act, Symbol c, bool positive);
  Symbol act_any(const std::vector<Symbol>& acts, const std::string& hint);
  ExprId any_of(const std::vector<Symbol>& acts);
  ExprId padded(Symbol act, ExprId adjoint);

  // clocks
  std::vector<Sampling> chain(ClockTermId term);
  Symbol act_on(Symbol act, const std::vector<Sampling>& conditions);
  bool is_act_on(Symbol act, Symbol whole, const std::vector<Sampling>& conditions) const;
  ExprId on(ExprId e, const std::vector<Sampling>& conditions);

  // the interface
  void interface(const std::string& name);

  // backward
  void backward();
  void name_early(const std::vector<bool>& done, const std::vector<bool>& relevant);
  void settle(std::uint32_t v);
  bool is_parameter(std::uint32_t v) const;
  bool is_grounded(std::uint32_t v) const;
  std::pair<Symbol, ExprId> both_branches(std::uint32_t v, const Contribution& yes, const Contribution& no);
  void differentiate_equation(std::size_t q);
  void push(ExprId e, Flow flow);
  void branch(ExprId e, Symbol act, ExprId padded_adjoint, const ShapeOf& shape);
  ExprId name_of(ExprId adjoint);
  void leaf(ExprId e, Flow flow, Contribution how);
  void sampling(const ast::When& x, Flow flow);
  void delay(ExprId e, const ast::Fby& x, Flow flow);

  // operators
  void application(ExprId e, Flow flow);
  std::vector<ExprId> arguments(ExprId e) const;
  void operand_adjoint(OperatorId op, const Application& a);
  static std::size_t mentions(const Program& of, ExprId e, const char* name);
  void refuse(ExprId e, ExprId operand, const std::string& because);

  // rules
  ExprId attribute_default(const OperatorParameter& p);
  std::optional<std::pair<std::size_t, std::size_t>> parameter(const Application& a, const std::string& name,
                                                               const OperatorParameter*& found) const;
  ExprId substitute(const Program& of, ExprId e, const Application& a, bool is_static_place);
  ExprId substitute_call(const Program& of, const ast::Call& c, const Application& a, bool is_static_place);

  // subscripts
  void subscript(ExprId e, const ast::Index& index, Flow flow);

  // parameters and instances
  void nested_parameter(ExprId e, const Flow& flow);
  void nested_call(ExprId e, const Flow& flow);
  std::vector<Sampling> callee_chain(ExprId e, NodeId g, ClockTermId term, const std::vector<ast::Target>& targets);
  std::vector<Symbol> callee_activities(ExprId e, NodeId g, const Derivative& derived,
                                        const std::vector<Adjoint>& adjoints, const std::vector<ast::Target>& targets);
  std::vector<Symbol> callee_adjoints(ExprId e, NodeId g, const Derivative& derived,
                                      const std::vector<Adjoint>& adjoints, const std::vector<Symbol>& activities,
                                      std::vector<ast::Target>& targets);
  Symbol callee_activity(NodeId g, const Derivative& derived, const std::vector<Symbol>& activities,
                         ClockTermId clock) const;
  std::vector<ExprId> callee_rates(ExprId e, const Derivative& derived);
  void node_call(ExprId e, const std::vector<Adjoint>& adjoints);
  // What takes part in an iteration backward: places among the inputs of the node, or, of `stacked`, its outputs.
  struct IterationFlow {
    std::vector<std::uint32_t> states, sequences, fixed, stacked;
  };
  NodeId keeping_states(NodeId g, std::size_t states);
  NodeId round_backward(NodeId g, const ast::Iteration& how, const Derivative& derived, const IterationFlow& flow);
  void iterated_call(ExprId e, const std::vector<Adjoint>& adjoints);
  ShapeOf gradient_shape(const Derivative& derived, NodeId g, ExprId argument);
  std::string argument_text(ExprId a, const std::string& otherwise) const;

  // the result
  void gradients();
  Symbol output(Symbol s, const std::string& wanted);
  void forward();
  ast::Equation forward_equation(ExprId e, ast::Target target);
  Differentiation& owner_;
  Program& program_;
  const Checked& checked_;
  const DerivativeKey& key_;
  Derivative& out_;
  const ast::Node node_;  // the program's nodes move while derived ones are added
  const ResolvedNode& resolved_;
  const TypedNode& typed_;
  const ClockedNode& clocked_;
  const CallIdentities identities_;
  ConditionClasses conditions_;
  FreshNames fresh_;
  SyntaxWriter write_;
  ast::Node result_;
  std::set<Symbol> outputs_;
  std::vector<std::vector<std::uint32_t>> targets_;  // variables, by equation
  std::vector<bool> varied_, useful_;                // by variable, as the rest
  std::vector<std::vector<std::size_t>> users_;      // equations that pass their adjoint on to it
  std::vector<std::optional<ShapeOf>> shapes_;
  std::vector<std::vector<Contribution>> contributions_;
  std::vector<bool> grounded_;  // variables to which a grounded contribution is known
  std::vector<Adjoint> adjoints_;
  std::vector<Adjoint> early_;                                // named before their equations
  std::map<std::uint32_t, Symbol> bps_;                       // by root of the node's clocks
  std::map<std::uint32_t, std::vector<Symbol>> rates_;        // likewise
  std::size_t equation_ = 0;                                  // at hand
  std::vector<ExprId> sampled_by_;                            // conditions of the node that are no names
  std::map<ExprId, Symbol> hoisted_;                          // parts of forward equations that got names
  std::map<std::size_t, std::vector<ExprId>> before_;         // they stand before these equations
  std::map<ExprId, std::function<ast::Equation()>> special_;  // right-hand sides that change
  std::map<std::string, Symbol> activities_;                  // by how they are made
  std::map<Symbol, Sampling> sampled_from_;
  std::map<Symbol, bool> constants_;  // conditions that are, and which
  std::vector<ast::Equation> backward_;
};

}  // namespace rml::derivation
