// resolve_names: what every name of a program refers to (language.md section 1).
//
// Before: a Program as written, possibly with ast::Error inside. After: each Name and Call
// has a Reference, each call its arguments in the callee's order, each node its variables,
// and nodes and constants are ordered so that callees and used constants come first.
// Variables hide constants; a node hides an operator of its name; what nobody declares but is
// called `inf` or `nan` is that number, and its Name becomes a FloatLiteral. This file walks bodies;
// module scopes and orders are in resolve_names_scope.cc, calls in resolve_names_call.cc.
// Example: in `node f(x) -> (o) o = k * x; k = 2.0;` the variables are x, o, k in this order
// and the Names of the first equation refer to variables 2 and 0.
#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "semantics/resolve_names_resolver.h"

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

}  // namespace

NameResolver::NameResolver(Program& program, Diagnostics& diagnostics) : program_(program), diagnostics_(diagnostics) {
  result_.references.resize(program.exprs.size());
  result_.arguments.resize(program.exprs.size());
  result_.nodes.resize(program.nodes.size());
  result_.const_errors.resize(program.consts.size(), false);
  calls_.resize(program.nodes.size());
  uses_.resize(program.consts.size());
  seen_callee_.resize(program.nodes.size(), UINT32_MAX);
  for (const Diagnostic& d : diagnostics.all())
    if (severity(d.code) == Severity::error) syntax_errors_.push_back(d.primary.span);
}

Resolved NameResolver::run() {
  build_scopes();
  for (std::size_t c = 0; c < program_.consts.size(); ++c) resolve_const(ConstId{c});
  for (std::size_t n = 0; n < program_.nodes.size(); ++n) resolve_node(NodeId{n});
  order_consts();
  order_nodes();
  return std::move(result_);
}

void NameResolver::has_error() {
  if (walk_.node.valid()) result_.nodes[walk_.node.index].has_errors = true;
  if (walk_.constant.valid()) result_.const_errors[walk_.constant.index] = true;
}

bool NameResolver::lost_with_import(Symbol qualifier) const {
  return std::ranges::any_of(program_.modules[walk_.module.index].imports, [&](const ast::Import& import) {
    return !import.module.valid() && (import.is_path ? !qualifier.valid() : import.alias == qualifier);
  });
}

Diagnostic& NameResolver::report(Code code, Span span, std::string message, std::string label) {
  if (severity(code) == Severity::error) has_error();
  return diagnostics_.report(code, span, std::move(message), std::move(label));
}

// ---- items -----------------------------------------------------------------------------

void NameResolver::resolve_const(ConstId c) {
  const ast::Const& item = program_.consts[c.index];
  walk_ = Walk{};
  walk_.constant = c;
  walk_.module = item.module;
  if (item.type) {
    if (item.type->clock.valid())
      report(Code::E0207, item.type->clock_span, "a constant has no clock", "leave this out");
    for (ExprId e : item.type->shape) expr(e);
  }
  expr(item.value);
}

void NameResolver::resolve_node(NodeId n) {
  const ast::Node& node = program_.nodes[n.index];
  ResolvedNode& out = result_.nodes[n.index];
  walk_ = Walk{};
  walk_.node = n;
  walk_.module = node.module;
  const Span text = node.external() ? to_next_item(node) : node.span;
  walk_.broken =
      std::any_of(syntax_errors_.begin(), syntax_errors_.end(), [&](Span error) { return inside(error, text); });
  if (walk_.broken) out.has_errors = true;
  declare_interface(node, out);
  declare_targets(node, out);
  walk_.used.assign(out.variables.size(), false);
  for (const Variable& v : out.variables)
    if (v.type) annotation(*v.type);
  for (const ast::Equation& e : node.equations) equation(e);
  for (const ast::Assert& a : node.asserts) expr(a.condition);
  if (walk_.broken) return;
  check_declared(node, out);
  if (node.external()) check_external(node);
  if (!out.has_errors && !node.derived_from.valid()) warn_unused(node, out);
}

// A node may have no equations because the text where they stood could not be read.
Span NameResolver::to_next_item(const ast::Node& node) const {
  Span text = node.span;
  text.end = UINT32_MAX;
  auto end_at = [&](Span item) {
    if (item.begin > node.span.begin) text.end = std::min(text.end, item.begin - 1);
  };
  const ast::Module& module = program_.modules[node.module.index];
  for (NodeId n : module.nodes) end_at(program_.nodes[n.index].span);
  for (ConstId c : module.consts) end_at(program_.consts[c.index].span);
  return text;
}

void NameResolver::declare_interface(const ast::Node& node, ResolvedNode& out) {
  auto declare = [&](const ast::Parameter& p, Variable::Kind kind, std::uint32_t position) {
    auto [it, fresh] = walk_.variables.emplace(p.name.index, static_cast<std::uint32_t>(out.variables.size()));
    if (!fresh) {
      const Variable& first = out.variables[it->second];
      report(Code::E0202, p.span, "`" + text(p.name) + "` stands twice in the interface of `" + text(node.name) + "`",
             "again here")
          .label(first.span, "first here");
    }
    Variable v{p.name, p.span, kind, UINT32_MAX, kind == Variable::output ? position : 0, nullptr};
    if (p.type) v.type = &*p.type;
    out.variables.push_back(v);
  };
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    declare(node.inputs[i], Variable::input, static_cast<std::uint32_t>(i));
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    declare(node.outputs[i], Variable::output, static_cast<std::uint32_t>(i));
}

// Locals are what equations define beyond the outputs. An output's own annotation may stand
// in the interface or, in its equation, at the target; the interface's is kept.
void NameResolver::declare_targets(const ast::Node& node, ResolvedNode& out) {
  for (std::uint32_t q = 0; q < node.equations.size(); ++q) {
    const ast::Equation& equation = node.equations[q];
    for (std::uint32_t t = 0; t < equation.targets.size(); ++t) {
      const ast::Target& target = equation.targets[t];
      if (!target.name.valid()) continue;
      auto [it, fresh] = walk_.variables.emplace(target.name.index, static_cast<std::uint32_t>(out.variables.size()));
      if (fresh) out.variables.push_back({target.name, target.span, Variable::local, UINT32_MAX, 0, nullptr});
      Variable& v = out.variables[it->second];
      if (v.kind == Variable::input) {
        report(Code::E0202, target.span, "`" + text(target.name) + "` is an input: it cannot have an equation",
               "defined here")
            .label(v.span, "input declared here");
        continue;
      }
      if (v.equation != UINT32_MAX) {
        const ast::Target& first = node.equations[v.equation].targets[v.target];
        report(Code::E0202, target.span, "`" + text(target.name) + "` has two equations", "defined again here")
            .label(first.span, "first defined here");
        continue;
      }
      v.equation = q;
      v.target = t;
      if (target.type && !v.type) v.type = &*target.type;
    }
  }
}

void NameResolver::check_declared(const ast::Node& node, ResolvedNode& out) {
  if (node.external()) return;
  for (const Variable& v : out.variables)
    if (v.kind == Variable::output && v.equation == UINT32_MAX)
      report(Code::E0203, v.span, "output `" + text(v.name) + "` of `" + text(node.name) + "` has no equation",
             "never defined")
          .note("write an equation `" + text(v.name) + " = …;` in the node");
}

void NameResolver::check_external(const ast::Node& node) {
  auto check = [&](const ast::Parameter& p, const char* role) {
    if (p.type && p.type->dtype.valid()) return;
    report(Code::E0308, p.span,
           std::string(role) + " `" + text(p.name) + "` of external node `" + text(node.name) + "` has no type",
           "write its type, as in `" + text(p.name) + ": f32`")
        .note("`" + text(node.name) + "` has no equations, so it is linked from C, which needs every type");
  };
  for (const ast::Parameter& p : node.inputs) check(p, "input");
  for (const ast::Parameter& p : node.outputs) check(p, "output");
}

void NameResolver::warn_unused(const ast::Node& node, const ResolvedNode& out) {
  for (std::size_t v = 0; v < out.variables.size(); ++v) {
    const Variable& variable = out.variables[v];
    if (variable.kind != Variable::local || walk_.used[v] || text(variable.name).starts_with("_")) continue;
    Diagnostic& d = report(Code::W0201, variable.span, "`" + text(variable.name) + "` is never used", "defined here");
    const ast::Equation& equation = node.equations[variable.equation];
    if (equation.targets.size() > 1) d.fix(variable.span, "_", "write `_`", true);
  }
}

// ---- bodies ----------------------------------------------------------------------------

void NameResolver::annotation(const ast::TypeAnnotation& type) {
  for (ExprId e : type.shape) expr(e);
  if (!type.clock.valid()) return;
  auto it = walk_.variables.find(type.clock.index);
  if (it != walk_.variables.end()) {
    walk_.used[it->second] = true;
    return;
  }
  ConstId constant;
  if (!const_named(type.clock, constant)) unknown_value(type.clock, type.clock_span);
}

void NameResolver::equation(const ast::Equation& equation) {
  // Annotations at targets whose variable keeps another one still have to make sense.
  for (const ast::Target& target : equation.targets) {
    if (!target.type || !target.name.valid()) continue;
    const Variable& v = result_.nodes[walk_.node.index].variables[walk_.variables.at(target.name.index)];
    if (v.type != &*target.type) annotation(*target.type);
  }
  if (!equation.value.valid()) return;
  if (const auto* c = std::get_if<ast::Call>(&program_[equation.value])) {
    call(equation.value, *c, equation.targets.size());
    return;
  }
  if (equation.targets.size() > 1 && !std::holds_alternative<ast::Error>(program_[equation.value]))
    report(Code::E0204, program_.span(equation.value),
           std::to_string(equation.targets.size()) + " variables on the left, but one value on the right",
           "this is one value");
  expr(equation.value);
}

void NameResolver::expr(ExprId e) {
  if (!e.valid()) return;
  std::visit([&](const auto& f) { form(e, f); }, program_[e]);
}

void NameResolver::not_in_constant(ExprId e, const char* what) {
  if (walk_.constant.valid())
    report(Code::E0304, program_.span(e), std::string("a constant cannot contain ") + what,
           "changes from cycle to cycle");
}

void NameResolver::form(ExprId e, const ast::Name& name) {
  if (lookup_value(name.symbol, e)) return;
  if (const auto number = number_named(text(name.symbol)))
    program_.exprs[e.index] = ast::FloatLiteral{*number};  // `name` is gone
  else
    unknown_value(name.symbol, program_.span(e));
}

void NameResolver::form(ExprId e, const ast::TextLiteral&) {
  report(Code::E0207, program_.span(e), "a text is no value", "only some arguments of operators are texts");
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
  not_in_constant(e, "`fby`");
  expr(fby.init);
  expr(fby.next);
}

void NameResolver::form(ExprId e, const ast::Post& post) {
  not_in_constant(e, "`post`");
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

// A plain item removes an axis (`index`), a range keeps it (`slice`); where both occur the
// reference says `index` and instantiation slices first.
void NameResolver::form(ExprId e, const ast::Index& index) {
  bool plain = std::any_of(index.items.begin(), index.items.end(), [](const auto& i) { return !i.is_range; });
  result_.references[e.index] = OperatorRef{operators().require(plain ? "index" : "slice")};
  expr(index.operand);
  for (const ast::IndexItem& item : index.items) {
    expr(item.at);
    expr(item.lower);
    expr(item.upper);
  }
}

void NameResolver::form(ExprId e, const ast::Call& c) { call(e, c, 1); }

void NameResolver::form(ExprId, const ast::Error&) { has_error(); }

// ---- values ----------------------------------------------------------------------------

bool NameResolver::lookup_value(Symbol name, ExprId e) {
  auto it = walk_.variables.find(name.index);
  if (it != walk_.variables.end()) {
    result_.references[e.index] = VariableRef{it->second};
    if (it->second < walk_.used.size()) walk_.used[it->second] = true;
    return true;
  }
  ConstId constant;
  if (!const_named(name, constant)) return false;
  result_.references[e.index] = ConstRef{constant};
  if (walk_.constant.valid()) uses_[walk_.constant.index].push_back(constant);
  return true;
}

void NameResolver::unknown_value(Symbol name, Span span) {
  has_error();
  if (walk_.broken || lost_with_import({}) || !walk_.reported.insert(name.index).second) return;
  const std::string& word = text(name);
  NodeId node;
  if (item_named(name, node)) {
    report(Code::E0207, span, "`" + word + "` is a node, not a value", "call it: `" + word + "(…)`")
        .label(program_.nodes[node.index].name_span, "the node is defined here");
    return;
  }
  if (dtype_named(word)) {
    report(Code::E0207, span, "`" + word + "` is a type, not a value", "a value is needed here");
    return;
  }
  if (operators().find(word)) {
    report(Code::E0207, span, "`" + word + "` is an operator, not a value", "call it: `" + word + "(…)`");
    return;
  }
  std::vector<std::string> candidates = {"inf", "nan"};
  if (suggestions_left_ > 0) {
    --suggestions_left_;
    for (auto [symbol, variable] : walk_.variables) candidates.push_back(text(Symbol{symbol}));
    for (auto [symbol, constant] : scopes_[walk_.module.index].consts) candidates.push_back(text(Symbol{symbol}));
    std::sort(candidates.begin(), candidates.end());
  }
  std::string meant = did_you_mean(word, candidates);
  Diagnostic& d = report(Code::E0201, span, "unknown name `" + word + "`", "not defined in this scope");
  if (!meant.empty()) d.note("did you mean `" + meant + "`?").fix(span, meant, "write `" + meant + "`");
}

Resolved resolve_names(Program& program, Diagnostics& diagnostics) { return NameResolver(program, diagnostics).run(); }

}  // namespace rml
