// Dtype inference, the shared state of its parts (infer_types*.cc).
//
// Problem: give every expression a dtype, and every node one principal type. Method:
// Hindley-Milner with sets of dtypes (infer_types_solver.h), one node at a time, callees
// first; what stays open in a node's interface is generalised, what stays open inside gets
// a default. A failed unification is reported once and its result becomes a fresh
// variable, so that nothing else is blamed for it.
#pragma once

#include <string>
#include <vector>

#include "semantics/checked.h"
#include "semantics/infer_types_solver.h"

namespace rml {

class TypeChecker {
 public:
  TypeChecker(const Program& program, const Resolved& names, Diagnostics& diagnostics);
  Typed run();

 private:
  // infer_types.cc
  void check_const(ConstId c);
  void check_node(NodeId n);
  void declare_variables(const ResolvedNode& node);
  void equation(const ResolvedNode& node, const ast::Equation& equation, const std::vector<std::uint32_t>& targets);
  void define(const ResolvedNode& node, std::uint32_t variable, ExprId value, TypeId type);
  TypeId declared(const ast::TypeAnnotation& type);
  void declared_clocks(const ResolvedNode& node, const ast::Node& item);
  void generalise(NodeId n);
  void settle(const TypeScheme& scheme);
  TypeTerm term(TypeId root);
  void forget_scheme();
  void enter_scheme(TypeId root, TypeScheme& scheme);
  TypeId expr(ExprId e);
  TypeId form(ExprId e, const ast::Name& name);
  TypeId form(ExprId e, const ast::BoolLiteral&);
  TypeId form(ExprId e, const ast::IntLiteral&);
  TypeId form(ExprId e, const ast::FloatLiteral&);
  TypeId form(ExprId e, const ast::TextLiteral&);
  TypeId form(ExprId e, const ast::Unary& unary);
  TypeId form(ExprId e, const ast::Binary& binary);
  TypeId form(ExprId e, const ast::If& choice);
  TypeId form(ExprId e, const ast::Fby& fby);
  TypeId form(ExprId e, const ast::Post& post);
  TypeId form(ExprId e, const ast::When& when);
  TypeId form(ExprId e, const ast::Merge& merge);
  TypeId form(ExprId e, const ast::Array& array);
  TypeId form(ExprId e, const ast::Index& index);
  TypeId form(ExprId e, const ast::Call& call);
  TypeId form(ExprId e, const ast::Error&);
  void condition(ExprId e, const char* of);
  TypeId same(ExprId first, ExprId second, const std::string& what);

  // infer_types_call.cc
  std::vector<TypeId> call(ExprId e);
  std::vector<TypeId> node_call(ExprId e, NodeId callee);
  TypeId operator_call(ExprId e, OperatorId op);
  TypeId apply(ExprId e, OperatorId op, const std::vector<ExprId>& operands);
  void attribute(ExprId e, const OperatorParameter& parameter, std::string_view of);
  // `of`: the operator whose attribute it is, if of one.
  void static_integer(ExprId e, const std::string& what, const std::string& of = {});
  std::string applied_name(ExprId e) const;

  // infer_types_report.cc
  Diagnostic& report(Code code, Span span, std::string message, std::string label = {});
  void mismatch(ExprId at, TypeId found, TypeId wanted, const std::string& message, ExprId other = {},
                const std::string& wanted_name = "what is needed");
  bool stored_only(ExprId at, TypeId found, DTypeSet allowed, const std::string& who);
  // What was reported, unless it was told elsewhere.
  Diagnostic* not_accepted(ExprId at, TypeId found, DTypeSet allowed, const std::string& who, bool stream);
  void suggest_cast(Diagnostic& d, ExprId a, TypeId type_a, ExprId b, TypeId type_b, bool stream = true);
  std::string describe(TypeId t);
  void explain(Diagnostic& d, TypeId t, const std::string& subject, Span shown);

  const Program& program_;
  const Resolved& names_;
  Diagnostics& diagnostics_;
  Typed result_;
  TypeSolver solver_;
  NodeId node_;  // being checked; or
  ConstId const_;
  bool failed_ = false;            // an error in it
  std::vector<TypeId> variables_;  // of the node, by variable index
  std::vector<std::pair<ExprId, TypeId>> visited_;
  std::vector<std::pair<ExprId, std::vector<TypeId>>> instantiated_;
  std::vector<std::int32_t> scheme_index_;  // by TypeId of a class: its scheme variable, or -1
  std::vector<TypeId> scheme_roots_;        // where scheme_index_ is not -1
};

// "numbers", "floats", "bool", "i32 or i64": a set in the user's words.
std::string set_text(DTypeSet set, bool plural);

}  // namespace rml
