// resolve_names: finds the referent of every name of a program (docs/language.md, "Programs and
// streams").
//
// Before: a Program as written, possibly with ast::Error inside. After: each Name and Call has a
// Reference, each call has its arguments in the callee's order, and each node has its variables.
// Nodes and constants are ordered so that callees and used constants come first.
//
// Method: one table of names per module (resolve_names_modules.h); one walk over each item's
// expressions (resolve_names_walk.h resolves names, resolve_names_call.h resolves calls); then
// the orders (resolve_names_order.h). A walk that finds an error marks its item, so that later
// passes skip it.
//
// Variables hide constants; a node hides an operator of its name. An undeclared name `inf` or
// `nan` is that number, and its Name becomes a FloatLiteral. Example: in `node f(x) -> (o) o = k
// * x; k = 2.0;` the variables are x, o, k in this order, and the Names of the first equation
// refer to variables 2 and 0.
#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "semantics/check/foreign_names.h"
#include "semantics/check/resolve_names_call.h"
#include "semantics/check/resolve_names_deal.h"
#include "semantics/check/resolve_names_modules.h"
#include "semantics/check/resolve_names_order.h"
#include "semantics/check/resolve_names_walk.h"
#include "semantics/check/signature_text.h"
#include "semantics/check/write_collectives.h"

namespace rml {

namespace {

std::string_view operator_name(UnaryOp op) {
  switch (op) {
    case UnaryOp::negate:
      return "negate";
    case UnaryOp::logical_not:
      return "logical_not";
  }
  return "negate";
}

std::string_view operator_name(BinaryOp op) {
  switch (op) {
    case BinaryOp::logical_or:
      return "logical_or";
    case BinaryOp::logical_and:
      return "logical_and";
    case BinaryOp::eq:
      return "eq";
    case BinaryOp::ne:
      return "ne";
    case BinaryOp::lt:
      return "lt";
    case BinaryOp::le:
      return "le";
    case BinaryOp::gt:
      return "gt";
    case BinaryOp::ge:
      return "ge";
    case BinaryOp::add:
      return "add";
    case BinaryOp::sub:
      return "sub";
    case BinaryOp::mul:
      return "mul";
    case BinaryOp::div:
      return "div";
    case BinaryOp::mod:
      return "mod";
  }
  return "add";
}

std::optional<double> number_named(std::string_view name) {
  if (name == "inf") return std::numeric_limits<double>::infinity();
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

bool inside(Span inner, Span outer) {
  return inner.file == outer.file && inner.begin >= outer.begin && inner.begin <= outer.end;
}

// The text from a node to the next item. If it has syntax errors, the node may lack equations
// that could not be read.
Span to_next_item(const Program& program, const ast::Node& node) {
  Span text = node.span;
  text.end = UINT32_MAX;
  auto end_at = [&](Span item) {
    if (item.begin > node.span.begin) text.end = std::min(text.end, item.begin - 1);
  };
  const ast::Module& module = program.modules[node.module.index];
  for (NodeId n : module.nodes) end_at(program.nodes[n.index].span);
  for (ConstId c : module.consts) end_at(program.consts[c.index].span);
  return text;
}

// Resolves the names of one node or constant.
class NameResolver {
 public:
  NameResolver(Program& program, NameWalk& walk, Resolved& result) : program_(program), walk_(walk), result_(result) {}

  // Sets `uses` to the constants that the value names.
  void constant(const ast::Const& item, std::vector<ConstId>& uses);
  // Sets `calls` to the nodes that it calls or differentiates.
  void node(NodeId n, std::vector<CallSite>& calls);

 private:
  bool is_constant() const { return node_ == nullptr; }
  void declare_interface();
  void declare_targets();
  void check_declared();
  void check_external();
  void warn_unused();
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
  void live_in_time(ExprId e, const char* what);
  bool lookup_value(Symbol name, ExprId e);
  void refer_to(ConstId constant, ExprId e);
  void call(ExprId e, const ast::Call& call, std::size_t targets);
  void note_call(NodeId callee, Span at);
  void diff_call(ExprId e, const ast::Call& call, NodeId of);
  void load(ExprId e, const ast::Call& call);
  void argument(ExprId e, ArgumentKind kind);
  void dtype_argument(ExprId e);
  bool reversed_cast(const ast::Call& call, const Reference& to);
  void text_argument(ExprId e);

  Program& program_;  // not const: names such as `inf` become literals
  NameWalk& walk_;
  Resolved& result_;
  NodeId id_;
  const ast::Node* node_ = nullptr;  // the node whose names are resolved; null for a constant
  std::vector<CallSite>* calls_ = nullptr;
  std::vector<ConstId>* uses_ = nullptr;
  std::unordered_set<std::uint32_t> met_;  // names of the callees found so far
};

// ---- items -----------------------------------------------------------------------------

void NameResolver::constant(const ast::Const& item, std::vector<ConstId>& uses) {
  uses_ = &uses;
  if (item.type) {
    if (item.type->clock.valid())
      walk_.report(Code::E0207, item.type->clock_span, "a constant has no clock", "remove this");
    for (ExprId e : item.type->shape) expr(e);
  }
  expr(item.value);
}

void NameResolver::node(NodeId n, std::vector<CallSite>& calls) {
  id_ = n;
  node_ = &program_.nodes[n.index];
  calls_ = &calls;
  declare_interface();
  declare_targets();
  check_deal(*node_, walk_);
  for (const Variable& v : walk_.variables())
    if (v.type) annotation(*v.type);
  for (const ast::Equation& e : node_->equations) equation(e);
  for (const ast::Assert& a : node_->asserts) expr(a.condition);
  if (!node_->asserts.empty()) result_.nodes[n.index].lives_in_time = true;
  if (!walk_.broken()) {
    check_declared();
    if (node_->external()) check_external();
    if (!walk_.failed() && !node_->derived_from.valid()) warn_unused();
  }
  result_.nodes[n.index].variables = walk_.variables();
}

void NameResolver::declare_interface() {
  const auto declare = [&](const ast::Parameter& p, Variable::Kind kind, std::uint32_t position) {
    const Variable v{
        p.name, p.span, kind, UINT32_MAX, kind == Variable::output ? position : 0, p.type ? &*p.type : nullptr};
    const auto [first, fresh] = walk_.declare(v);
    if (fresh) return;
    walk_
        .report(Code::E0202, p.span,
                "`" + walk_.text(p.name) + "` appears twice in the interface of `" + walk_.text(node_->name) + "`",
                "again here")
        .label(first.span, "first here");
    walk_.declare_again(v);
  };
  for (std::size_t i = 0; i < node_->inputs.size(); ++i)
    declare(node_->inputs[i], Variable::input, static_cast<std::uint32_t>(i));
  for (std::size_t i = 0; i < node_->outputs.size(); ++i)
    declare(node_->outputs[i], Variable::output, static_cast<std::uint32_t>(i));
}

// Declares as locals the targets of equations that are no outputs. The annotation of an output
// may be in the interface or at the target; that of the interface has precedence.
void NameResolver::declare_targets() {
  for (std::uint32_t q = 0; q < node_->equations.size(); ++q) {
    const ast::Equation& equation = node_->equations[q];
    for (std::uint32_t t = 0; t < equation.targets.size(); ++t) {
      const ast::Target& target = equation.targets[t];
      if (!target.name.valid()) continue;
      Variable& v = walk_.declare({target.name, target.span, Variable::local, UINT32_MAX, 0, nullptr}).first;
      if (v.kind == Variable::input) {
        walk_
            .report(Code::E0202, target.span,
                    "`" + walk_.text(target.name) + "` is an input: it cannot have an equation", "defined here")
            .label(v.span, "input declared here");
        continue;
      }
      if (v.equation != UINT32_MAX) {
        const ast::Target& first = node_->equations[v.equation].targets[v.target];
        walk_
            .report(Code::E0202, target.span, "`" + walk_.text(target.name) + "` has two equations",
                    "defined again here")
            .label(first.span, "first defined here");
        continue;
      }
      v.equation = q;
      v.target = t;
      if (target.type && !v.type) v.type = &*target.type;
    }
  }
}

void NameResolver::check_declared() {
  if (node_->external()) return;
  for (const Variable& v : walk_.variables())
    if (v.kind == Variable::output && v.equation == UINT32_MAX)
      walk_
          .report(Code::E0203, v.span,
                  "output `" + walk_.text(v.name) + "` of `" + walk_.text(node_->name) + "` has no equation",
                  "never defined")
          .note("write an equation `" + walk_.text(v.name) + " = …;` in the node");
}

void NameResolver::check_external() {
  auto check = [&](const ast::Parameter& p, const char* role) {
    if (p.type && p.type->dtype.valid()) return;
    walk_
        .report(Code::E0308, p.span,
                std::string(role) + " `" + walk_.text(p.name) + "` of external node `" + walk_.text(node_->name) +
                    "` has no type",
                "write its type, as in `" + walk_.text(p.name) + ": f32`")
        .note("`" + walk_.text(node_->name) + "` has no equations, so it is linked from C, which needs every type");
  };
  for (const ast::Parameter& p : node_->inputs) check(p, "input");
  for (const ast::Parameter& p : node_->outputs) check(p, "output");
}

void NameResolver::warn_unused() {
  for (std::uint32_t v = 0; v < walk_.variables().size(); ++v) {
    const Variable& variable = walk_.variables()[v];
    if (variable.kind != Variable::local || walk_.used(v) || walk_.text(variable.name).starts_with("_")) continue;
    Diagnostic& d =
        walk_.report(Code::W0201, variable.span, "`" + walk_.text(variable.name) + "` is never used", "defined here");
    const ast::Equation& equation = node_->equations[variable.equation];
    if (equation.targets.size() > 1) d.fix(variable.span, "_", "write `_`", true);
  }
}

// ---- bodies ----------------------------------------------------------------------------

void NameResolver::annotation(const ast::TypeAnnotation& type) {
  for (ExprId e : type.shape) expr(e);
  if (!type.clock.valid()) return;
  if (const auto variable = walk_.variable(type.clock))
    walk_.use(*variable);
  else if (!walk_.scope().constant(type.clock))
    walk_.unknown_value(type.clock, type.clock_span);
}

void NameResolver::equation(const ast::Equation& equation) {
  // An annotation at a target must be valid even if the variable keeps another one.
  for (const ast::Target& target : equation.targets) {
    if (!target.type || !target.name.valid()) continue;
    const Variable& v = walk_.variables()[*walk_.variable(target.name)];
    if (v.type != &*target.type) annotation(*target.type);
  }
  if (!equation.value.valid()) return;
  if (const auto* c = std::get_if<ast::Call>(&program_[equation.value])) {
    call(equation.value, *c, equation.targets.size());
    return;
  }
  if (equation.targets.size() > 1 && !std::holds_alternative<ast::Error>(program_[equation.value]))
    walk_.report(Code::E0204, program_.span(equation.value),
                 std::to_string(equation.targets.size()) + " variables on the left, but one value on the right",
                 "this is one value");
  expr(equation.value);
}

void NameResolver::expr(ExprId e) {
  if (!e.valid()) return;
  std::visit([&](const auto& f) { form(e, f); }, program_[e]);
}

void NameResolver::not_in_constant(ExprId e, const char* what) {
  if (is_constant())
    walk_.report(Code::E0304, program_.span(e), std::string("a constant cannot contain ") + what,
                 "changes from cycle to cycle");
}

// For constructs with memory or effects: an error in a constant; marks a node as one that lives
// in time.
void NameResolver::live_in_time(ExprId e, const char* what) {
  not_in_constant(e, what);
  if (!is_constant()) result_.nodes[id_.index].lives_in_time = true;
}

void NameResolver::form(ExprId e, const ast::Name& name) {
  if (name.qualifier.valid()) {
    const auto constant = walk_.qualified_constant(name, program_.span(e));
    if (constant) refer_to(*constant, e);
    return;
  }
  if (lookup_value(name.symbol, e)) return;
  if (const auto number = number_named(walk_.text(name.symbol)))
    program_.exprs[e.index] = ast::FloatLiteral{*number};  // this overwrites the expression that `name` refers to
  else
    walk_.unknown_value(name.symbol, program_.span(e));
}

void NameResolver::form(ExprId e, const ast::TextLiteral&) {
  walk_.report(Code::E0207, program_.span(e), "a text is not a value",
               "only some operators take a text as an argument");
}

void NameResolver::form(ExprId e, const ast::Unary& unary) {
  result_.references[e.index] = OperatorRef{operators().require(operator_name(unary.op))};
  expr(unary.operand);
}

void NameResolver::form(ExprId e, const ast::Binary& binary) {
  result_.references[e.index] = OperatorRef{operators().require(operator_name(binary.op))};
  expr(binary.left);
  expr(binary.right);
}

void NameResolver::form(ExprId, const ast::If& choice) {
  expr(choice.condition);
  expr(choice.then_branch);
  expr(choice.else_branch);
}

void NameResolver::form(ExprId e, const ast::Fby& fby) {
  live_in_time(e, "`fby`");
  expr(fby.init);
  expr(fby.next);
}

void NameResolver::form(ExprId e, const ast::Post& post) {
  live_in_time(e, "`post`");
  expr(post.operand);
}

void NameResolver::form(ExprId e, const ast::When& when) {
  not_in_constant(e, "`when`");
  expr(when.operand);
  expr(when.condition);
}

void NameResolver::form(ExprId e, const ast::Merge& merge) {
  not_in_constant(e, "`merge`");
  expr(merge.condition);
  expr(merge.on_true);
  expr(merge.on_false);
}

void NameResolver::form(ExprId e, const ast::Array& array) {
  result_.references[e.index] = OperatorRef{operators().require("array")};
  for (ExprId element : array.elements) expr(element);
}

// A plain item removes an axis (`index`), a range keeps it (`slice`). If both occur, the
// reference is `index`, and instantiation slices first.
void NameResolver::form(ExprId e, const ast::Index& index) {
  bool plain = std::any_of(index.items.begin(), index.items.end(), [](const auto& i) { return !i.is_range; });
  result_.references[e.index] = OperatorRef{operators().require(plain ? "index" : "slice")};
  expr(index.operand);
  for (const ast::IndexItem& item : index.items) {
    expr(item.at);
    expr(item.lower);
    expr(item.upper);
    expr(item.step);
  }
}

void NameResolver::form(ExprId e, const ast::Call& c) { call(e, c, 1); }

void NameResolver::form(ExprId, const ast::Error&) { walk_.fail(); }

// ---- values ----------------------------------------------------------------------------

bool NameResolver::lookup_value(Symbol name, ExprId e) {
  if (const auto variable = walk_.variable(name)) {
    result_.references[e.index] = VariableRef{*variable};
    walk_.use(*variable);
    return true;
  }
  const auto constant = walk_.scope().constant(name);
  if (!constant) return false;
  refer_to(*constant, e);
  return true;
}

void NameResolver::refer_to(ConstId constant, ExprId e) {
  result_.references[e.index] = ConstRef{constant};
  if (is_constant()) uses_->push_back(constant);
}

// ---- calls -----------------------------------------------------------------------------

// Resolves a call. `targets` is the number of values expected of it: the number of targets on the
// left-hand side, or 1 inside an expression.
void NameResolver::call(ExprId e, const ast::Call& call, std::size_t targets) {
  if (const NodeId of = differentiated(call, walk_); of.valid() || call.diff) {
    diff_call(e, call, of);
    return;
  }
  Reference to = callee_of(call, walk_);
  if (call.iteration && !can_iterate(call, to, walk_)) to = {};
  if (is_constant() && std::holds_alternative<NodeRef>(to)) {
    walk_.report(Code::E0304, call.callee_span, "a constant cannot call a node", "not a compile-time constant");
    to = {};
  }
  result_.references[e.index] = to;
  if (std::holds_alternative<std::monostate>(to)) {
    for (const ast::Argument& a : call.arguments) expr(a.value);
    return;
  }
  if (const auto* node = std::get_if<NodeRef>(&to)) note_call(node->node, call.callee_span);
  if (const auto* op = std::get_if<OperatorRef>(&to)) {
    if (operators()[op->op].random) live_in_time(e, "a random operator");
    if (operators()[op->op].name == "sum_over_elements") live_in_time(e, "`sum_over_elements`");
    if (operators()[op->op].name == "sum_over_sharers") live_in_time(e, "`sum_over_sharers`");
  }
  if (std::holds_alternative<ParamRef>(to)) live_in_time(e, "`param`");
  check_results(call, to, targets, walk_);
  if (reversed_cast(call, to)) return;
  MatchedArguments matched = matched_arguments(call, to, walk_);
  result_.arguments[e.index] = std::move(matched.ordered);
  for (std::size_t k = 0; k < call.arguments.size(); ++k) argument(call.arguments[k].value, matched.kinds[k]);
  if (std::holds_alternative<LoadRef>(to)) load(e, call);
}

// Detects `cast(n, f64)`, the order of arguments in NumPy and C++.
bool NameResolver::reversed_cast(const ast::Call& call, const Reference& to) {
  const auto* op = std::get_if<OperatorRef>(&to);
  if (op == nullptr || operators()[op->op].name != "cast" || call.arguments.size() != 2) return false;
  const ExprId value = call.arguments[0].value, type = call.arguments[1].value;
  const auto* word = type.valid() ? std::get_if<ast::Name>(&program_[type]) : nullptr;
  if (!value.valid() || word == nullptr || !dtype_named(program_.text(*word))) return false;
  const auto* first = std::get_if<ast::Name>(&program_[value]);
  if (first != nullptr && dtype_named(program_.text(*first))) return false;
  const Span where = join(program_.span(value), program_.span(type));
  const std::string meant = program_.text(*word) + ", " + expression_text(program_, value);
  walk_.report(Code::E0309, where, "`cast` takes the type first", "write `cast(" + meant + ")`")
      .fix(where, meant, "write `cast(" + meant + ")`", true);
  return true;
}

void NameResolver::note_call(NodeId callee, Span at) {
  if (!met_.insert(callee.index).second) return;
  result_.nodes[id_.index].callees.push_back(callee);
  calls_->push_back({callee, at});
}

void NameResolver::load(ExprId e, const ast::Call& call) {
  LoadRef to;
  if (auto tensor = loaded(e, call, result_.arguments[e.index], walk_)) {
    to.tensor = static_cast<std::uint32_t>(result_.tensors.size());
    result_.tensors.push_back(std::move(tensor));
  }
  result_.references[e.index] = to;
}

void NameResolver::argument(ExprId e, ArgumentKind kind) {
  if (!e.valid()) return;
  switch (kind) {
    case ArgumentKind::value:
      return expr(e);
    case ArgumentKind::dtype:
      return dtype_argument(e);
    case ArgumentKind::text:
      return text_argument(e);
  }
}

void NameResolver::diff_call(ExprId e, const ast::Call& call, NodeId of) {
  DiffCall found{e, id_, of, {}};
  for (const ast::Argument& a : call.arguments) expr(a.value);
  walk_.fail();
  if (is_constant()) {
    walk_.report(Code::E0304, call.callee_span, "a constant cannot call a node", "not a compile-time constant");
    return;
  }
  if (call.diff && !call.diff->optimizer.empty()) {
    for (ExprId a : call.diff->optimizer_arguments) expr(a);
    ast::Call optimizer;
    optimizer.callee = call.diff->optimizer;
    optimizer.callee_span = call.diff->span;
    const Reference to = callee_of(optimizer, walk_);
    const auto* node = std::get_if<NodeRef>(&to);
    if (node == nullptr) {
      if (!std::holds_alternative<std::monostate>(to))
        walk_.report(Code::E0604, call.diff->span, "`" + walk_.text(optimizer.callee.back()) + "` is not a node",
                     "an optimizer is a node");
      return;
    }
    found.optimizer = node->node;
  }
  if (of.valid()) {
    calls_->push_back({of, call.callee_span});
    result_.diff_calls.push_back(found);
  }
}

void NameResolver::text_argument(ExprId e) {
  if (std::holds_alternative<ast::TextLiteral>(program_[e])) return;
  if (std::holds_alternative<ast::Error>(program_[e])) return walk_.fail();
  walk_.report(Code::E0207, program_.span(e), "a text is needed here", "not a text, such as `\"ij,jk->ik\"`");
}

void NameResolver::dtype_argument(ExprId e) {
  const auto* name = std::get_if<ast::Name>(&program_[e]);
  if (!name) {
    walk_.report(Code::E0309, program_.span(e), "a type's name is needed here", "not a type, such as `f32`");
    return;
  }
  const std::string word = program_.text(*name);
  auto dtype = dtype_named(word);
  if (!dtype) {
    const std::string meant = dtype_meant(word);
    Diagnostic& d = walk_.report(Code::E0309, program_.span(e), "unknown type `" + word + "`", "not a type");
    if (!meant.empty()) d.note("did you mean `" + meant + "`?").fix(program_.span(e), meant, "write `" + meant + "`");
    return;
  }
  result_.references[e.index] = DTypeRef{*dtype};
}

}  // namespace

Resolved resolve_names(Program& program, Diagnostics& diagnostics) {
  write_collectives(program);
  Resolved result;
  result.references.resize(program.exprs.size());
  result.arguments.resize(program.exprs.size());
  result.nodes.resize(program.nodes.size());
  result.const_errors.resize(program.consts.size(), false);
  std::vector<Span> syntax_errors;
  for (const Diagnostic& d : diagnostics.all())
    if (severity(d.code) == Severity::error) syntax_errors.push_back(d.primary.span);

  const std::vector<ModuleScope> scopes = module_scopes(program, diagnostics);
  int suggestions = 50;
  const auto walk_in = [&](ModuleId m) { return NameWalk(program, scopes[m.index], m, diagnostics, suggestions); };
  std::vector<std::vector<ConstId>> uses(program.consts.size());
  for (std::size_t c = 0; c < program.consts.size(); ++c) {
    NameWalk walk = walk_in(program.consts[c].module);
    NameResolver(program, walk, result).constant(program.consts[c], uses[c]);
    result.const_errors[c] = walk.failed();
  }
  std::vector<std::vector<CallSite>> calls(program.nodes.size());
  for (std::size_t n = 0; n < program.nodes.size(); ++n) {
    const ast::Node& node = program.nodes[n];
    NameWalk walk = walk_in(node.module);
    const Span text = node.external() ? to_next_item(program, node) : node.span;
    if (std::ranges::any_of(syntax_errors, [&](Span error) { return inside(error, text); })) walk.break_off();
    NameResolver(program, walk, result).node(NodeId{n}, calls[n]);
    result.nodes[n].has_errors = walk.failed();
  }
  order_consts(program, uses, result, diagnostics);
  order_nodes(program, calls, result, diagnostics);
  return result;
}

}  // namespace rml
