// The abstract syntax tree of R(ML)², as the user wrote it (docs/language.md).
//
// One Program contains every file that is reached by imports. Expressions are stored in one arena
// and named by ExprId, so a pass keeps its results in vectors with that index, and deep trees are
// destroyed without recursion. Nothing is desugared: the formatter and the diagnostics see the
// original constructs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "frontend/source.h"

namespace rml {

// An index of 4 bytes. The tag makes it a type of its own.
template <class Tag>
struct Id {
  std::uint32_t index = UINT32_MAX;
  constexpr Id() = default;
  constexpr explicit Id(std::size_t i) : index(static_cast<std::uint32_t>(i)) {}
  constexpr bool valid() const { return index != UINT32_MAX; }
  friend constexpr bool operator==(Id, Id) = default;
  friend constexpr auto operator<=>(Id, Id) = default;
};

using Symbol = Id<struct SymbolTag>;  // number of an interned name
using ExprId = Id<struct ExprTag>;
using NodeId = Id<struct NodeTag>;
using ConstId = Id<struct ConstTag>;
using ModuleId = Id<struct ModuleTag>;

class Interner {
 public:
  Symbol intern(const std::string& name);
  const std::string& text(Symbol s) const { return names_[s.index]; }

 private:
  std::unordered_map<std::string, std::uint32_t> index_;
  std::vector<std::string> names_;
};

enum class UnaryOp : std::uint8_t { negate, logical_not };
enum class BinaryOp : std::uint8_t { logical_or, logical_and, eq, ne, lt, le, gt, ge, add, sub, mul, div, mod };

namespace ast {

// A variable, a constant, or (as an argument) a dtype.
struct Name {
  Symbol symbol;
  Symbol qualifier = {};  // valid: the alias of the imported module that defines the constant
};
struct BoolLiteral {
  bool value;
};
// An integer literal. The parser rejects numbers that do not fit.
struct IntLiteral {
  std::uint64_t value;
};
struct FloatLiteral {
  double value;
};
// A text argument of an operator.
struct TextLiteral {
  std::string value;
};
struct Unary {
  UnaryOp op;
  ExprId operand;
};
struct Binary {
  BinaryOp op;
  ExprId left, right;
};
struct If {
  ExprId condition, then_branch, else_branch;
};
struct Fby {
  ExprId init, next;
};
struct Post {
  ExprId operand;
};
struct When {
  ExprId operand;
  bool positive;
  ExprId condition;
};
struct Merge {
  ExprId condition, on_true, on_false;
};
struct Array {
  std::vector<ExprId> elements;
};
struct IndexItem {
  bool is_range = false;
  ExprId at;                  // the index, for a single element; invalid for a range
  ExprId lower, upper, step;  // bounds and step of a range; invalid where they are omitted
  Span span;
};
struct Index {
  ExprId operand;
  std::vector<IndexItem> items;
};
// An argument. It is positional if `name` is invalid.
struct Argument {
  Symbol name;
  Span name_span;
  ExprId value;
};
// A call such as `diff f(…)` or `diff[adam(0.1)] f(…)`.
struct Diff {
  std::vector<Symbol> optimizer;  // names of the path a.b.c; empty: no optimiser
  std::vector<ExprId> optimizer_arguments;
  Span span;
};
// `scan f(states…; sequences…; fixed…)`, or `fold` without stacked results, or `map f(sequences…;
// fixed…)`. The node f is called for each element of the sequences along their first axis.
struct Iteration {
  enum Kind : std::uint8_t { map, fold, scan } kind = scan;
  bool reverse = false;                     // true: the iteration runs from the last element to the first
  std::uint32_t states = 0, sequences = 0;  // numbers of leading arguments of each kind; further arguments are fixed
  Span span;
};
inline const char* iterator_name(Iteration::Kind kind) {
  return kind == Iteration::map ? "map" : kind == Iteration::fold ? "fold" : "scan";
}
struct Call {
  std::vector<Symbol> callee;  // names of the path a.b.c
  Span callee_span;
  std::vector<Argument> arguments;
  std::optional<Diff> diff;
  std::optional<Iteration> iteration;
  // Set in calls that differentiation wrote. `target` is the called node. `builtin` means that
  // the operator is called even if a node in scope has its name.
  NodeId target;
  bool builtin = false;
  // Set in calls that differentiation copied: the identity of the instance, parameter or random
  // draw (call_identities.h).
  Symbol identity;
};
// Replaces syntax that could not be parsed. Later passes give it any type and report nothing
// about it.
struct Error {};

using Expr = std::variant<Name, BoolLiteral, IntLiteral, FloatLiteral, TextLiteral, Unary, Binary, If, Fby, Post, When,
                          Merge, Array, Index, Call, Error>;

struct TypeAnnotation {
  Symbol dtype;
  Span dtype_span;
  bool has_shape = false;
  std::vector<ExprId> shape;
  Symbol clock;  // name of the clock; invalid: no clock is written
  bool clock_positive = true;
  Span clock_span;
  Span span;
};

// `dealt end by 8`: rows are dealt in micro-batches, and a micro-batch ends where `end` is true.
// `count` micro-batches make a step.
struct Deal {
  Symbol end;
  Span end_span;
  ExprId count;  // a number or the name of a constant; invalid: it is omitted and counts as one
  Span span;
};

// An input or output of a node.
struct Parameter {
  Symbol name;
  Span span;  // place of the name
  std::optional<TypeAnnotation> type;
  std::optional<Deal> deal = {};  // only an input can have one
};

// A variable on the left-hand side of an equation; `_` if `name` is invalid.
struct Target {
  Symbol name;
  Span span;
  std::optional<TypeAnnotation> type;
};

struct Equation {
  std::vector<Target> targets;
  ExprId value;
  Span span;
};
struct Assert {
  ExprId condition;
  std::optional<std::string> message;
  Span span;
};

struct Node {
  Symbol name;
  Span name_span;
  Span span;  // place of the whole item
  ModuleId module;
  std::vector<Parameter> inputs, outputs;
  std::vector<Equation> equations;
  std::vector<Assert> asserts;
  bool broken_header = false;  // a syntax error is in it, so that its interface is not known
  NodeId derived_from;         // valid: made by differentiation of that node, and in no scope
  bool external() const { return equations.empty() && asserts.empty() && !outputs.empty(); }
  // Returns the deal of the dealt inputs, which is the same for all of them; null if there is
  // none.
  const Deal* deal() const {
    for (const Parameter& p : inputs)
      if (p.deal) return &*p.deal;
    return nullptr;
  }
};

struct Const {
  Symbol name;
  Span name_span;
  Span span;
  ModuleId module;
  std::optional<TypeAnnotation> type;
  ExprId value;
};

struct Import {
  bool is_path = false;  // import "file.rml": names are imported unqualified
  std::string target;    // `import nn as n` gives names like n.dense, `import filters.audio` gives audio.shelf
  Symbol alias;          // the qualifier; invalid if a path is imported
  Span span, target_span;
  ModuleId module;  // the module that is imported; invalid if it could not be loaded
};

struct Module {
  std::uint32_t file = 0;
  bool of_library = false;  // true for a module of the standard library: an error inside is reported at the call
  std::vector<Import> imports;
  std::vector<NodeId> nodes;  // nodes in the order of the text
  std::vector<ConstId> consts;
};

}  // namespace ast

struct TensorFiles;

struct Program {
  Interner names;
  std::vector<ast::Expr> exprs;      // all expressions of the program, indexed by ExprId
  std::vector<Span> expr_spans;      // places of the expressions, indexed by ExprId
  std::vector<ast::Node> nodes;      // all nodes of the program, indexed by NodeId
  std::vector<ast::Const> consts;    // all constants of the program, indexed by ConstId
  std::vector<ast::Module> modules;  // modules[0] is the file named on the command line,
                                     // modules[1] the prelude; both always exist

  ModuleId steps;  // the library module `steps`; valid if a node has dealt inputs

  std::size_t written = SIZE_MAX;      // expressions from this index on were made by differentiation
  std::shared_ptr<TensorFiles> files;  // files that load(…) reads; null: none

  const ast::Expr& operator[](ExprId e) const { return exprs[e.index]; }
  Span span(ExprId e) const { return expr_spans[e.index]; }
  const ast::Node& operator[](NodeId n) const { return nodes[n.index]; }
  const std::string& text(Symbol s) const { return names.text(s); }
  std::string text(const ast::Name& name) const {  // `m.k`
    return name.qualifier.valid() ? text(name.qualifier) + "." + text(name.symbol) : text(name.symbol);
  }
  ExprId add(ast::Expr e, Span span) {
    exprs.push_back(std::move(e));
    expr_spans.push_back(span);
    return ExprId{exprs.size() - 1};
  }
};

}  // namespace rml
