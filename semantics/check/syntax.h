// Construction and traversal of syntax trees, for passes such as differentiation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontend/ast.h"

namespace rml {

// Makes expressions in a program. All get the span of the code that they are derived from.
class SyntaxWriter {
 public:
  explicit SyntaxWriter(Program& program) : program_(program) {}
  Span span;

  Symbol symbol(const std::string& name) { return program_.names.intern(name); }
  const std::string& text(Symbol s) const { return program_.text(s); }
  ExprId add(ast::Expr e) { return program_.add(std::move(e), span); }
  ExprId name(Symbol s) { return add(ast::Name{s}); }
  ExprId boolean(bool v) { return add(ast::BoolLiteral{v}); }
  ExprId integer(std::uint64_t v) { return add(ast::IntLiteral{v}); }
  ExprId zero() { return add(ast::FloatLiteral{0.0}); }
  ExprId when(ExprId x, Symbol c, bool positive = true) { return add(ast::When{x, positive, name(c)}); }
  ExprId merge(Symbol c, ExprId x, ExprId y) { return add(ast::Merge{name(c), x, y}); }
  ExprId choose(Symbol c, ExprId x, ExprId y) { return add(ast::If{name(c), x, y}); }
  ExprId binary(BinaryOp op, ExprId a, ExprId b) { return add(ast::Binary{op, a, b}); }
  // A call of an operator, `param` or `stop_gradient`, even if a node of that name is in scope.
  ExprId call(const std::string& op, const std::vector<ExprId>& arguments);
  ExprId copy(ExprId e);  // returns a deep copy of the expression
  ast::Target target(Symbol s) const { return {s, span, std::nullopt}; }

 protected:
  Program& program_;
};

// New names for variables of a node: different from all names that it uses.
class FreshNames {
 public:
  FreshNames(Program& program, const ast::Node& node);
  Symbol operator()(std::string base);  // by value, because new names move the texts of old ones
  bool has_made(Symbol s) const { return made_.contains(s); }

 private:
  Program& program_;
  std::set<Symbol> taken_, made_;
  std::map<Symbol, std::uint32_t> next_;  // by base: the next number to append
};

// Writes a node equation by equation, based on another node whose names it keeps.
class NodeWriter : public SyntaxWriter {
 public:
  NodeWriter(Program& program, NodeId of, const std::string& name);

  Symbol fresh(std::string base) { return fresh_(std::move(base)); }
  bool is_fresh(Symbol s) const { return fresh_.has_made(s); }
  Symbol input(Symbol s);
  Symbol output(Symbol s);
  void equation(std::vector<ast::Target> targets, ExprId value) {
    node_.equations.push_back({std::move(targets), value, span});
  }
  void equation(Symbol left, ExprId right) { equation({target(left)}, right); }
  // A call of exactly this node, even if another node of that name is in scope.
  ExprId call_node(NodeId node, const std::vector<ExprId>& arguments);
  // Like call_node, if the written node stands for the called one: parameters in it have the same paths.
  ExprId call_as_itself(NodeId node, const std::vector<ExprId>& arguments);
  // Returns the finished node, which leaves the builder.
  ast::Node take() { return std::move(node_); }

 protected:
  ast::Node node_;

 private:
  FreshNames fresh_;
};

// Calls f on the direct subexpressions of e.
void for_each_child(const ast::Expr& e, const std::function<void(ExprId)>& f);
// A copy whose direct subexpressions are replaced by f of the original ones.
ast::Expr map_children(const ast::Expr& e, const std::function<ExprId(ExprId)>& f);

}  // namespace rml
