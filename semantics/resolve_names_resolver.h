// Name resolution, the shared state of its parts (resolve_names*.cc).
//
// Problem: say for every name of every module what it refers to. Method: one table of
// names per module (its own items, then those of its path imports, then the prelude), one
// table of variables per node, and one walk over each node's expressions. What a walk
// finds wrong is reported once per name and node, and marks the node, so that later passes
// leave it alone.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "semantics/checked.h"

namespace rml {

struct ModuleScope {
  std::unordered_map<std::uint32_t, NodeId> nodes;  // by Symbol
  std::unordered_map<std::uint32_t, ConstId> consts;
  std::unordered_map<std::uint32_t, ModuleId> qualifiers;  // import … as m
};

// One parameter of a callee, as argument matching sees it.
struct CalleeParameter {
  std::string name;
  bool required = true;
  bool variadic = false;
  bool dtype = false;
  bool text = false;
};

class NameResolver {
 public:
  NameResolver(Program& program, Diagnostics& diagnostics);
  Resolved run();

 private:
  struct CallSite {
    NodeId callee;
    Span span;
  };
  // What is being walked: a node's body or a constant's value.
  struct Walk {
    NodeId node;
    ConstId constant;
    ModuleId module;
    std::unordered_map<std::uint32_t, std::uint32_t> variables;  // Symbol to variable index
    std::vector<bool> used;
    std::unordered_set<std::uint32_t> reported;  // unknown names already told
    bool broken = false;                         // has syntax errors: stay silent on absences
  };

  // resolve_names.cc
  Diagnostic& report(Code code, Span span, std::string message, std::string label = {});
  void has_error();
  // A name behind this qualifier (none: unqualified) may be in a file whose import failed.
  bool lost_with_import(Symbol qualifier) const;
  void resolve_node(NodeId n);
  void resolve_const(ConstId c);
  Span to_next_item(const ast::Node&) const;
  void declare_interface(const ast::Node& node, ResolvedNode& out);
  void declare_targets(const ast::Node& node, ResolvedNode& out);
  void check_declared(const ast::Node& node, ResolvedNode& out);
  void check_external(const ast::Node& node);
  void warn_unused(const ast::Node& node, const ResolvedNode& out);
  void equation(const ast::Equation& equation);
  void annotation(const ast::TypeAnnotation& annotation);
  void expr(ExprId e);
  void form(ExprId e, const ast::Name& name);
  void form(ExprId, const ast::BoolLiteral&) {}
  void form(ExprId, const ast::IntLiteral&) {}
  void form(ExprId, const ast::FloatLiteral&) {}
  void form(ExprId e, const ast::TextLiteral&);
  void form(ExprId e, const ast::Unary& unary);
  void form(ExprId e, const ast::Binary& binary);
  void form(ExprId e, const ast::If& choice);
  void form(ExprId e, const ast::Fby& fby);
  void form(ExprId e, const ast::Post& post);
  void form(ExprId e, const ast::When& when);
  void form(ExprId e, const ast::Merge& merge);
  void form(ExprId e, const ast::Array& array);
  void form(ExprId e, const ast::Index& index);
  void form(ExprId e, const ast::Call& call);
  void form(ExprId e, const ast::Error& error);
  void not_in_constant(ExprId e, const char* what);
  bool lookup_value(Symbol name, ExprId e);
  void unknown_value(Symbol name, Span span);

  // resolve_names_scope.cc
  void build_scopes();
  void declare_items(ModuleId m);
  void import_items(ModuleId m, const ast::Import& import);
  bool item_named(Symbol name, NodeId& node) const;
  bool const_named(Symbol name, ConstId& constant) const;
  void order_nodes();
  void order_consts();
  void report_recursion(const std::vector<NodeId>& chain, const std::vector<Span>& calls);

  // resolve_names_call.cc
  void call(ExprId e, const ast::Call& call, std::size_t results);
  Reference callee(const ast::Call& call);
  NodeId differentiated(const ast::Call& call);
  void diff_call(ExprId e, const ast::Call& call, NodeId of);
  Reference unqualified_callee(Symbol name, Span span);
  Reference qualified_callee(const ast::Call& call);
  void unknown_callee(const std::string& name, Span span);
  std::vector<CalleeParameter> parameters(const Reference& callee) const;
  std::string callee_text(const Reference& callee, const ast::Call& call) const;
  bool can_iterate(const ast::Call& call, const Reference& callee);
  void check_results(const ast::Call& call, const Reference& callee, std::size_t targets);
  void match_arguments(ExprId e, const ast::Call& call, const Reference& callee);
  bool place_named(const ast::Argument& argument, const std::vector<CalleeParameter>& parameters,
                   std::vector<OrderedArguments>& places, const std::string& signature);
  void resolve_arguments(const ast::Call& call, const Reference& callee, const OrderedArguments& ordered);
  void dtype_argument(ExprId e);
  void text_argument(ExprId e);
  LoadRef loaded(ExprId e, const ast::Call& call);

  const std::string& text(Symbol s) const { return program_.text(s); }

  Program& program_;  // only literals that are written as names are changed
  Diagnostics& diagnostics_;
  Resolved result_;
  std::vector<ModuleScope> scopes_;
  std::vector<std::vector<CallSite>> calls_;  // by NodeId, parallel to ResolvedNode::callees
  std::vector<std::vector<ConstId>> uses_;    // by ConstId: constants its value names
  std::vector<std::uint32_t> seen_callee_;    // by NodeId: last caller that noted it
  std::vector<Span> syntax_errors_;
  int suggestions_left_ = 50;  // did-you-mean searches everything in scope
  Walk walk_;
};

}  // namespace rml
