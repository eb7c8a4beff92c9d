// The abstract syntax of R(ML)2, as written (docs/language.md).
//
// One Program holds every file reached by imports. Expressions live in one arena and are
// named by ExprId, so passes keep their results in vectors indexed by it and deep trees
// cost no recursion to destroy. Nothing is desugared here: the formatter and the
// diagnostics see what the user wrote.
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

// A 4-byte index with a type of its own.
template <class Tag>
struct Id {
  std::uint32_t index = UINT32_MAX;
  constexpr Id() = default;
  constexpr explicit Id(std::size_t i) : index(static_cast<std::uint32_t>(i)) {}
  constexpr bool valid() const { return index != UINT32_MAX; }
  friend constexpr bool operator==(Id, Id) = default;
  friend constexpr auto operator<=>(Id, Id) = default;
};

using Symbol = Id<struct SymbolTag>;  // an interned name
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

struct Name {
  Symbol symbol;
  Symbol qualifier = {};  // valid: what a module is imported as, whose constant it is
};  // a variable, constant or (as an argument) a dtype
struct BoolLiteral {
  bool value;
};
struct IntLiteral {
  std::uint64_t value;
};  // larger ones are rejected by the parser
struct FloatLiteral {
  double value;
};
struct TextLiteral {
  std::string value;
};  // an argument for an operator's text
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
  ExprId at;                  // not a range
  ExprId lower, upper, step;  // a range; invalid where left out
  Span span;
};
struct Index {
  ExprId operand;
  std::vector<IndexItem> items;
};
struct Argument {
  Symbol name;
  Span name_span;
  ExprId value;
};  // name invalid: positional
// `diff f(…)` and `diff[adam(0.1)] f(…)`
struct Diff {
  std::vector<Symbol> optimizer;  // a.b.c; empty: none
  std::vector<ExprId> optimizer_arguments;
  Span span;
};
// `scan f(states…; sequences…; fixed…)`; `fold` likewise, without results that are stacked;
// `map f(sequences…; fixed…)`: f is called for each element of the sequences along their first axis.
struct Iteration {
  enum Kind : std::uint8_t { map, fold, scan } kind = scan;
  bool reverse = false;                     // from the last element to the first
  std::uint32_t states = 0, sequences = 0;  // the first arguments; the others are fixed
  Span span;
};
inline const char* iterator_name(Iteration::Kind kind) {
  return kind == Iteration::map ? "map" : kind == Iteration::fold ? "fold" : "scan";
}
struct Call {
  std::vector<Symbol> callee;  // a.b.c
  Span callee_span;
  std::vector<Argument> arguments;
  std::optional<Diff> diff;
  std::optional<Iteration> iteration;
  // Of calls that differentiation wrote: the very node, or the operator whatever the scope's nodes are.
  NodeId target;
  bool builtin = false;
  // And of those it copied: what the instance, parameter or random draw is known by (call_identities.h).
  Symbol identity;
};
// What error recovery leaves behind; later passes give it any type and stay silent.
struct Error {};

using Expr = std::variant<Name, BoolLiteral, IntLiteral, FloatLiteral, TextLiteral, Unary, Binary, If, Fby, Post, When,
                          Merge, Array, Index, Call, Error>;

struct TypeAnnotation {
  Symbol dtype;
  Span dtype_span;
  bool has_shape = false;
  std::vector<ExprId> shape;
  Symbol clock;  // invalid: none given
  bool clock_positive = true;
  Span clock_span;
  Span span;
};

// `dealt end by 8`: rows are dealt in micro-batches, each of which ends where `end` holds; so many are a step.
struct Deal {
  Symbol end;
  Span end_span;
  ExprId count;  // a number or the name of a constant; invalid: left out, one
  Span span;
};

struct Parameter {  // of an interface: input or output
  Symbol name;
  Span span;  // of the name
  std::optional<TypeAnnotation> type;
  std::optional<Deal> deal = {};  // of an input
};

struct Target {  // left-hand side; name invalid: `_`
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
  Span span;  // the whole item
  ModuleId module;
  std::vector<Parameter> inputs, outputs;
  std::vector<Equation> equations;
  std::vector<Assert> asserts;
  NodeId derived_from;  // valid: made by differentiation of that node, and in no scope
  bool external() const { return equations.empty() && asserts.empty() && !outputs.empty(); }
  // What its dealt inputs say, the same of all; null: it has none.
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
  bool is_path = false;  // import "file.rml";   names enter unqualified
  std::string target;    // import nn as n;      names are n.dense;   import filters.audio;   they are audio.shelf
  Symbol alias;          // the qualifier; invalid for a path import
  Span span, target_span;
  ModuleId module;  // the module it resolved to; invalid if it failed
};

struct Module {
  std::uint32_t file = 0;
  bool of_library = false;  // the standard one: what fails in it is the call's fault
  std::vector<Import> imports;
  std::vector<NodeId> nodes;  // in order of the text
  std::vector<ConstId> consts;
};

}  // namespace ast

struct TensorFiles;

struct Program {
  Interner names;
  std::vector<ast::Expr> exprs;      // indexed by ExprId
  std::vector<Span> expr_spans;      // likewise
  std::vector<ast::Node> nodes;      // indexed by NodeId
  std::vector<ast::Const> consts;    // indexed by ConstId
  std::vector<ast::Module> modules;  // modules[0] is the file named on the command line,
                                     // modules[1] the prelude; both always exist

  ModuleId steps;  // of the library, where a node has dealt inputs

  std::size_t written = SIZE_MAX;      // expressions from here on were made by differentiation
  std::shared_ptr<TensorFiles> files;  // of load(…); null: it has none

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
