// infer_types: the dtype of every expression, one principal type per node (language.md 2).
//
// Before: resolved names. After: every expression's TypeTerm, a dtype or a variable of its
// node's scheme; every call's instantiation of its callee's scheme. Literals are any number
// (or any float), operator rows give the types of their operands, conditions are bool, and
// annotations decide. Example: `node f(x) -> (o) o = x * 2.0;` has the scheme 'a: float,
// x: 'a, o: 'a; a call with x: f64 instantiates 'a with f64.
#include <algorithm>

#include "semantics/foreign_names.h"
#include "semantics/infer_types_checker.h"
#include "semantics/signature_text.h"

namespace rml {

TypeChecker::TypeChecker(const Program& program, const Resolved& names, Diagnostics& diagnostics)
    : program_(program), names_(names), diagnostics_(diagnostics) {
  result_.expr_types.resize(program.exprs.size());
  result_.instantiations.resize(program.exprs.size());
  result_.nodes.resize(program.nodes.size());
  result_.consts.resize(program.consts.size());
}

Typed TypeChecker::run() {
  for (ConstId c : names_.const_order) check_const(c);
  for (NodeId n : names_.order) check_node(n);
  return std::move(result_);
}

// ---- items -----------------------------------------------------------------------------

void TypeChecker::check_const(ConstId c) {
  const ast::Const& item = program_.consts[c.index];
  TypedConst& out = result_.consts[c.index];
  solver_.clear();
  node_ = {};
  const_ = c;
  failed_ = names_.const_errors[c.index];
  if (!failed_) {
    TypeId wanted = item.type ? declared(*item.type) : solver_.fresh();
    TypeId found = expr(item.value);
    if (!solver_.unify(wanted, found))
      mismatch(item.value, found, wanted,
               "constant `" + program_.text(item.name) + "` is " + describe(wanted) + ", but its value is " +
                   describe(found));
    TypeId root = solver_.find(wanted);
    DTypeSet set = solver_.set(root);
    forget_scheme();
    if (!decided(set) && !failed_) enter_scheme(root, out.scheme);
    out.type = term(root);
  }
  // Wrong constants may be anything.
  if (failed_) out = {{{dtypes::element}, {DType::i32}}, {0, DType::i32}};
  settle(out.scheme);
}

void TypeChecker::check_node(NodeId n) {
  const ResolvedNode& node = names_.nodes[n.index];
  TypedNode& out = result_.nodes[n.index];
  const ast::Node& item = program_.nodes[n.index];
  out.variable_types.resize(node.variables.size());
  if (node.has_errors) {
    out.has_errors = true;
    return;
  }
  solver_.clear();
  node_ = n;
  const_ = {};
  failed_ = false;
  declare_variables(node);
  std::vector<std::vector<std::uint32_t>> targets(item.equations.size());
  for (std::size_t q = 0; q < item.equations.size(); ++q)
    targets[q].assign(item.equations[q].targets.size(), UINT32_MAX);
  for (std::uint32_t v = 0; v < node.variables.size(); ++v)
    if (node.variables[v].equation != UINT32_MAX) targets[node.variables[v].equation][node.variables[v].target] = v;
  for (std::size_t q = 0; q < item.equations.size(); ++q) equation(node, item.equations[q], targets[q]);
  for (const ast::Assert& a : item.asserts) condition(a.condition, "an assertion");
  declared_clocks(node, item);
  generalise(n);
  out.has_errors = failed_;
}

void TypeChecker::declare_variables(const ResolvedNode& node) {
  variables_.clear();
  for (const Variable& v : node.variables) variables_.push_back(v.type ? declared(*v.type) : solver_.fresh());
}

// The dtype an annotation names, as a new variable; shapes are integers.
TypeId TypeChecker::declared(const ast::TypeAnnotation& type) {
  for (ExprId e : type.shape) static_integer(e, "an extent of a shape");
  if (!type.dtype.valid()) return solver_.fresh();
  const std::string& word = program_.text(type.dtype);
  auto dtype = dtype_named(word);
  if (!dtype) {
    std::string meant = dtype_meant(word);
    Diagnostic& d = report(Code::E0309, type.dtype_span, "unknown type `" + word + "`", "not a type");
    if (!meant.empty())
      d.note("did you mean `" + meant + "`?").fix(type.dtype_span, meant, "write `" + meant + "`");
    else
      d.note("the types are bool, i8, i16, i32 (int), i64, u8, u16, u32, u64, f16, bf16, f32 (float) and f64");
    return solver_.fresh();
  }
  return solver_.fresh(bit(*dtype), {Why::annotation, type.dtype_span});
}

// `x: f64 when c`: c is a Boolean.
void TypeChecker::declared_clocks(const ResolvedNode& node, const ast::Node& item) {
  const auto check = [&](const std::optional<ast::TypeAnnotation>& type) {
    if (!type || !type->clock.valid()) return;
    const auto at = std::ranges::find(node.variables, type->clock, &Variable::name);
    if (at == node.variables.end()) return;  // a constant
    const TypeId found = variables_[static_cast<std::size_t>(at - node.variables.begin())];
    if (solver_.restrict(found, dtypes::boolean, {Why::condition, type->clock_span})) return;
    const std::string name = "`" + program_.text(type->clock) + "`";
    Diagnostic& d = report(Code::E0301, type->clock_span,
                           "the condition of a clock must be bool, but " + name + " is " + describe(found),
                           "this is " + describe(found));
    explain(d, found, name, type->clock_span);
  };
  for (const ast::Parameter& p : item.inputs) check(p.type);
  for (const ast::Parameter& p : item.outputs) check(p.type);
  for (const ast::Equation& e : item.equations)
    for (const auto& target : e.targets) check(target.type);
}

void TypeChecker::equation(const ResolvedNode& node, const ast::Equation& equation,
                           const std::vector<std::uint32_t>& targets) {
  if (!equation.value.valid()) return;
  std::vector<TypeId> types;
  if (std::holds_alternative<ast::Call>(program_[equation.value])) {
    types = call(equation.value);
    if (types.size() == 1) visited_.emplace_back(equation.value, types[0]);
  } else {
    types = {expr(equation.value)};
  }
  for (std::size_t t = 0; t < targets.size() && t < types.size(); ++t) {
    // An annotation at the target of an output stands beside the interface's.
    const auto& written = equation.targets[t].type;
    if (targets[t] == UINT32_MAX) {
      if (!written) continue;
      TypeId wanted = declared(*written);
      if (!solver_.unify(types[t], wanted))
        mismatch(equation.value, types[t], wanted,
                 "this is declared " + describe(wanted) + ", but is " + describe(types[t]));
      continue;
    }
    if (written && node.variables[targets[t]].type != &*written) {
      TypeId wanted = declared(*written);
      if (!solver_.unify(variables_[targets[t]], wanted))
        report(Code::E0301, written->dtype_span,
               "`" + program_.text(node.variables[targets[t]].name) + "` is declared with two types", "this one")
            .label(node.variables[targets[t]].type->dtype_span, "and this one");
    }
    define(node, targets[t], equation.value, types[t]);
  }
}

void TypeChecker::define(const ResolvedNode& node, std::uint32_t variable, ExprId value, TypeId type) {
  if (solver_.unify(variables_[variable], type)) return;
  const std::string& name = program_.text(node.variables[variable].name);
  mismatch(value, type, variables_[variable],
           "`" + name + "` is " + describe(variables_[variable]) + ", but its equation gives " + describe(type), {},
           "`" + name + "`");
}

// What the interface leaves open becomes the scheme, numbered in order of appearance.
void TypeChecker::generalise(NodeId n) {
  const ResolvedNode& node = names_.nodes[n.index];
  TypedNode& out = result_.nodes[n.index];
  forget_scheme();
  for (std::size_t v = 0; v < node.variables.size(); ++v) {
    if (node.variables[v].kind == Variable::local) continue;
    TypeId root = solver_.find(variables_[v]);
    if (!decided(solver_.set(root)) && term(root).variable < 0) enter_scheme(root, out.scheme);
  }
  for (std::size_t v = 0; v < node.variables.size(); ++v) out.variable_types[v] = term(solver_.find(variables_[v]));
  settle(out.scheme);
}

void TypeChecker::forget_scheme() {
  for (TypeId root : scheme_roots_) scheme_index_[root.index] = -1;
  scheme_roots_.clear();
}

void TypeChecker::enter_scheme(TypeId root, TypeScheme& scheme) {
  if (scheme_index_.size() <= root.index) scheme_index_.resize(root.index + 1, -1);
  scheme_index_[root.index] = static_cast<std::int32_t>(scheme.variables.size());
  scheme_roots_.push_back(root);
  scheme.variables.push_back(solver_.set(root));
  scheme.defaults.push_back(solver_.fallback(root));
}

TypeTerm TypeChecker::term(TypeId root) {
  if (root.index < scheme_index_.size() && scheme_index_[root.index] >= 0)
    return {scheme_index_[root.index], DType::f32};
  return {-1, solver_.fallback(root)};
}

// Writes down the terms of all expressions visited since the last item.
void TypeChecker::settle(const TypeScheme& scheme) {
  auto settled = [&](TypeId t) {
    TypeTerm found = term(solver_.find(t));
    if (found.variable >= 0 && static_cast<std::size_t>(found.variable) >= scheme.variables.size()) found = {};
    return found;
  };
  for (auto& [e, t] : visited_) result_.expr_types[e.index] = settled(t);
  for (auto& [e, types] : instantiated_)
    for (TypeId t : types) result_.instantiations[e.index].push_back(settled(t));
  visited_.clear();
  instantiated_.clear();
}

// ---- expressions -----------------------------------------------------------------------

TypeId TypeChecker::expr(ExprId e) {
  if (!e.valid()) return solver_.fresh();
  TypeId t = std::visit([&](const auto& f) { return form(e, f); }, program_[e]);
  visited_.emplace_back(e, t);
  return t;
}

TypeId TypeChecker::form(ExprId e, const ast::Name&) {
  const Reference& to = names_.references[e.index];
  if (const auto* v = std::get_if<VariableRef>(&to))
    if (v->variable < variables_.size()) return variables_[v->variable];
  if (const auto* c = std::get_if<ConstRef>(&to)) {
    const TypedConst& constant = result_.consts[c->constant.index];
    DTypeSet set = constant.scheme.variables.empty() ? bit(constant.type.dtype) : constant.scheme.variables[0];
    return solver_.fresh(set, {Why::constant, program_.consts[c->constant.index].name_span});
  }
  return solver_.fresh();
}

TypeId TypeChecker::form(ExprId e, const ast::BoolLiteral&) {
  return solver_.fresh(dtypes::boolean, {Why::literal, program_.span(e)});
}

TypeId TypeChecker::form(ExprId e, const ast::IntLiteral&) {
  return solver_.fresh(dtypes::numeric, {Why::literal, program_.span(e)});
}

TypeId TypeChecker::form(ExprId e, const ast::FloatLiteral&) {
  return solver_.fresh(dtypes::floating, {Why::literal, program_.span(e)});
}

// Told by resolve_names where it is no operator's text.
TypeId TypeChecker::form(ExprId, const ast::TextLiteral&) { return solver_.fresh(); }

TypeId TypeChecker::form(ExprId e, const ast::Unary& unary) {
  const auto* op = std::get_if<OperatorRef>(&names_.references[e.index]);
  // A negated literal is a literal, of types that are not computed with too.
  const bool literal = std::holds_alternative<ast::IntLiteral>(program_[unary.operand]) ||
                       std::holds_alternative<ast::FloatLiteral>(program_[unary.operand]);
  if (op && literal && unary.op == UnaryOp::negate) return expr(unary.operand);
  if (op) return apply(e, op->op, {unary.operand});
  expr(unary.operand);
  return solver_.fresh();
}

TypeId TypeChecker::form(ExprId e, const ast::Binary& binary) {
  const auto* op = std::get_if<OperatorRef>(&names_.references[e.index]);
  if (op) return apply(e, op->op, {binary.left, binary.right});
  expr(binary.left);
  expr(binary.right);
  return solver_.fresh();
}

void TypeChecker::condition(ExprId e, const char* of) {
  if (!e.valid()) return;
  TypeId found = expr(e);
  if (solver_.restrict(found, dtypes::boolean, {Why::condition, program_.span(e)})) return;
  mismatch(e, found, solver_.fresh(dtypes::boolean),
           std::string(of) + " must be bool, but `" + short_text(program_, e) + "` is " + describe(found));
}

// The common type of two expressions that stand for one value; `what` names the construct.
TypeId TypeChecker::same(ExprId first, ExprId second, const std::string& what) {
  TypeId a = expr(first);
  TypeId b = expr(second);
  if (solver_.unify(a, b)) return a;
  mismatch(second, b, a, what + " differ in type: " + describe(a) + " and " + describe(b), first);
  return solver_.fresh();
}

TypeId TypeChecker::form(ExprId, const ast::If& choice) {
  condition(choice.condition, "the condition of `if`");
  return same(choice.then_branch, choice.else_branch, "the branches of `if`");
}

TypeId TypeChecker::form(ExprId, const ast::Fby& fby) { return same(fby.init, fby.next, "the two sides of `fby`"); }

TypeId TypeChecker::form(ExprId, const ast::Post& post) { return expr(post.operand); }

TypeId TypeChecker::form(ExprId, const ast::When& when) {
  TypeId t = expr(when.operand);
  condition(when.condition, "the condition of `when`");
  return t;
}

TypeId TypeChecker::form(ExprId, const ast::Merge& merge) {
  condition(merge.condition, "the condition of `merge`");
  return same(merge.on_true, merge.on_false, "the branches of `merge`");
}

TypeId TypeChecker::form(ExprId, const ast::Array& array) {
  TypeId common = solver_.fresh();
  ExprId first;
  bool good = true;
  for (ExprId e : array.elements) {
    TypeId t = expr(e);
    if (good && !solver_.unify(common, t)) {
      mismatch(e, t, common, "the elements of an array differ in type: " + describe(common) + " and " + describe(t),
               first);
      good = false;
    }
    if (!first.valid()) first = e;
  }
  return good ? common : solver_.fresh();
}

TypeId TypeChecker::form(ExprId, const ast::Index& index) {
  TypeId t = expr(index.operand);
  for (const ast::IndexItem& item : index.items) {
    if (item.at.valid()) static_integer(item.at, "an index");
    if (item.lower.valid()) static_integer(item.lower, "a bound of a range");
    if (item.upper.valid()) static_integer(item.upper, "a bound of a range");
  }
  return t;
}

TypeId TypeChecker::form(ExprId e, const ast::Call&) {
  std::vector<TypeId> results = call(e);
  return results.size() == 1 ? results[0] : solver_.fresh();
}

TypeId TypeChecker::form(ExprId, const ast::Error&) { return solver_.fresh(); }

Typed infer_types(const Program& program, const Resolved& names, Diagnostics& diagnostics) {
  return TypeChecker(program, names, diagnostics).run();
}

}  // namespace rml
