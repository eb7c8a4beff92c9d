// infer_types: the dtype of every expression, one principal type per node (docs/language.md,
// "Values").
//
// Before: resolved names. After: each expression's TypeTerm, a dtype or a variable of its node's
// scheme; each call's instantiation of its callee's scheme. Method: Hindley-Milner with sets of
// dtypes (infer_types_solver.h), one item at a time, dependences first. Types left open in an
// interface are generalised (infer_types_scheme.h); types left open inside get a default. A
// failed unification is reported once (infer_types_messages.h), and its result becomes a fresh
// variable, which causes no further errors.
//
// Literals are any number (or any float), conditions are bool, annotations fix a type. A call of
// a node instantiates its scheme with fresh variables. An operator's row gives slots: a variable
// of the row, shared between operands and result, or one fixed dtype. Attributes are integers,
// numbers, or the name of a dtype, which then is the dtype of the result. Example: `node f(x) ->
// (o) o = x * 2.0;` has the scheme 'a: float, x: 'a, o: 'a; a call with x: f64 instantiates 'a
// with f64. `add` has slots 'a, 'a -> 'a with 'a a number; in `n + 0.5`, n: i32, the first
// operand narrows 'a to i32 and the second, a float, does not fit: E0301 at `0.5`.
#include <algorithm>
#include <map>

#include "semantics/check/infer_types_messages.h"
#include "semantics/check/infer_types_scheme.h"
#include "semantics/check/signature_text.h"

namespace rml {

namespace {

bool gives_bool(BinaryOp op) { return op < BinaryOp::add; }

// The type variables of one row of the operator table, created at their first use.
class RowVariables {
 public:
  TypeId operator()(TypeSolver& solver, const DTypeSlot& slot) {
    if (slot.variable < 0) return solver.fresh(slot.allowed);
    auto v = static_cast<std::size_t>(slot.variable);
    if (v >= types_.size()) types_.resize(v + 1);
    if (!types_[v].valid())
      types_[v] = solver.fresh(slot.allowed);
    else
      solver.restrict(types_[v], slot.allowed, {});
    return types_[v];
  }

  bool met(const DTypeSlot& slot) const {
    auto v = static_cast<std::size_t>(slot.variable);
    return slot.variable < 0 || (v < types_.size() && types_[v].valid());
  }

 private:
  std::vector<TypeId> types_;
};

// Applies the rules to one constant or node. The types of the constants and nodes that it uses must be known.
class TypeChecker {
 public:
  TypeChecker(const Program& program, const Resolved& names, Typed& result, Diagnostics& diagnostics)
      : program_(program), names_(names), result_(result), messages_(program, names, solver_, diagnostics) {}

  void check(ConstId c);
  void check(NodeId n);

  // The type of an erroneous constant: any dtype.
  static TypedConst anything() { return {{{dtypes::element}, {DType::i32}}, {0, DType::i32}}; }

 private:
  void declare_variables(const ResolvedNode& node);
  void equation(const ResolvedNode& node, const ast::Equation& equation, const std::vector<std::uint32_t>& targets);
  void define(const ResolvedNode& node, std::uint32_t variable, ExprId value, TypeId type);
  TypeId declared(const ast::TypeAnnotation& type);
  void declared_clocks(const ResolvedNode& node, const ast::Node& item);
  void settle(SchemeTypes& types);
  TypeId expr(ExprId e);
  TypeId form(ExprId e, const ast::Name& name);
  TypeId form(ExprId e, const ast::BoolLiteral&);
  TypeId form(ExprId e, const ast::IntLiteral&);
  TypeId form(ExprId e, const ast::FloatLiteral&);
  TypeId form(ExprId e, const ast::TextLiteral&);
  TypeId form(ExprId e, const ast::Unary& unary);
  TypeId form(ExprId e, const ast::Binary& binary);
  TypeId applied(ExprId e, const ast::Binary& binary);
  ExprId sampled_in_front(ExprId e) const;
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
  std::vector<TypeId> call(ExprId e);
  std::vector<TypeId> node_call(ExprId e, NodeId callee);
  TypeId operator_call(ExprId e, OperatorId op);
  TypeId apply(ExprId e, OperatorId op, const std::vector<ExprId>& operands);
  void attribute(ExprId e, const OperatorParameter& parameter, ExprId call, std::string_view of);
  // Requires a static integer. `of` is the operator whose attribute it is; empty if there is none.
  void static_integer(ExprId e, const std::string& what, ExprId call = {}, const std::string& of = {});
  std::string applied_name(ExprId e) const;
  std::string describe(TypeId t) { return messages_.describe(t); }

  const Program& program_;
  const Resolved& names_;
  Typed& result_;
  TypeSolver solver_;
  TypeMessages messages_;
  std::vector<TypeId> variables_;  // types of the node's variables, by variable index
  std::vector<std::pair<ExprId, TypeId>> visited_;
  // From an operand `x when x` at the beginning of a comparison to the comparison.
  std::map<ExprId, ExprId> taken_for_conditions_;
  std::vector<std::pair<ExprId, std::vector<TypeId>>> instantiated_;
};

// ---- items -----------------------------------------------------------------------------

void TypeChecker::check(ConstId c) {
  const ast::Const& item = program_.consts[c.index];
  TypedConst& out = result_.consts[c.index];
  const TypeId wanted = item.type ? declared(*item.type) : solver_.fresh();
  const TypeId found = expr(item.value);
  if (!solver_.unify(wanted, found))
    messages_.mismatch(
        item.value, found, wanted,
        "constant `" + program_.text(item.name) + "` is " + describe(wanted) + ", but its value is " + describe(found));
  SchemeTypes types(solver_);
  if (!messages_.any()) types.generalise(wanted);
  settle(types);
  out = messages_.any() ? anything() : TypedConst{types.scheme(), types.term(wanted)};
}

void TypeChecker::check(NodeId n) {
  const ResolvedNode& node = names_.nodes[n.index];
  const ast::Node& item = program_.nodes[n.index];
  declare_variables(node);
  std::vector<std::vector<std::uint32_t>> targets(item.equations.size());
  for (std::size_t q = 0; q < item.equations.size(); ++q)
    targets[q].assign(item.equations[q].targets.size(), UINT32_MAX);
  for (std::uint32_t v = 0; v < node.variables.size(); ++v)
    if (node.variables[v].equation != UINT32_MAX) targets[node.variables[v].equation][node.variables[v].target] = v;
  for (std::size_t q = 0; q < item.equations.size(); ++q) equation(node, item.equations[q], targets[q]);
  for (const ast::Assert& a : item.asserts) condition(a.condition, "an assertion");
  declared_clocks(node, item);

  TypedNode& out = result_.nodes[n.index];
  SchemeTypes types(solver_);
  for (std::size_t v = 0; v < node.variables.size(); ++v)
    if (node.variables[v].kind != Variable::local) types.generalise(variables_[v]);
  for (std::size_t v = 0; v < node.variables.size(); ++v) out.variable_types[v] = types.term(variables_[v]);
  settle(types);
  out.scheme = types.scheme();
  out.has_errors = messages_.any();
}

// Stores the types of all visited expressions as terms of the scheme.
void TypeChecker::settle(SchemeTypes& types) {
  for (const auto& [e, t] : visited_) result_.expr_types[e.index] = types.term(t);
  for (const auto& [e, instances] : instantiated_)
    for (const TypeId t : instances) result_.instantiations[e.index].push_back(types.term(t));
}

void TypeChecker::declare_variables(const ResolvedNode& node) {
  for (const Variable& v : node.variables) variables_.push_back(v.type ? declared(*v.type) : solver_.fresh());
}

// A new variable with the annotation's dtype. Extents of shapes must be integers.
TypeId TypeChecker::declared(const ast::TypeAnnotation& type) {
  for (ExprId e : type.shape) static_integer(e, "an extent of a shape");
  if (!type.dtype.valid()) return solver_.fresh();
  const auto dtype = dtype_named(program_.text(type.dtype));
  if (!dtype) {
    messages_.unknown_dtype(type);
    return solver_.fresh();
  }
  return solver_.fresh(bit(*dtype), {Why::annotation, type.dtype_span});
}

// In `x: f64 when c`, c must be a Boolean.
void TypeChecker::declared_clocks(const ResolvedNode& node, const ast::Node& item) {
  const auto check = [&](const std::optional<ast::TypeAnnotation>& type) {
    if (!type || !type->clock.valid()) return;
    const auto at = std::ranges::find(node.variables, type->clock, &Variable::name);
    if (at == node.variables.end()) return;  // the name is not a variable but a constant
    const TypeId found = variables_[static_cast<std::size_t>(at - node.variables.begin())];
    if (solver_.restrict(found, dtypes::boolean, {Why::condition, type->clock_span})) return;
    messages_.clock_condition(*type, found);
  };
  for (const ast::Parameter& p : item.inputs) check(p.type);
  for (const ast::Parameter& p : item.outputs) check(p.type);
  for (const ast::Equation& e : item.equations)
    for (const auto& target : e.targets) check(target.type);
}

void TypeChecker::equation(const ResolvedNode& node, const ast::Equation& equation,
                           const std::vector<std::uint32_t>& targets) {
  if (!equation.value.valid()) return;
  const bool one = targets.size() == 1 && targets[0] != UINT32_MAX;
  messages_.defines(one ? solver_.set(variables_[targets[0]]) : dtypes::element);
  std::vector<TypeId> types;
  if (std::holds_alternative<ast::Call>(program_[equation.value])) {
    types = call(equation.value);
    if (types.size() == 1) visited_.emplace_back(equation.value, types[0]);
  } else {
    types = {expr(equation.value)};
  }
  for (std::size_t t = 0; t < targets.size() && t < types.size(); ++t) {
    // The target of an output may have an annotation besides the one of the interface.
    const auto& written = equation.targets[t].type;
    if (targets[t] == UINT32_MAX) {
      if (!written) continue;
      TypeId wanted = declared(*written);
      if (!solver_.unify(types[t], wanted))
        messages_.mismatch(equation.value, types[t], wanted,
                           "this is declared " + describe(wanted) + ", but is " + describe(types[t]));
      continue;
    }
    if (written && node.variables[targets[t]].type != &*written) {
      TypeId wanted = declared(*written);
      if (!solver_.unify(variables_[targets[t]], wanted))
        messages_.declared_twice(node.variables[targets[t]], *written);
    }
    define(node, targets[t], equation.value, types[t]);
  }
}

void TypeChecker::define(const ResolvedNode& node, std::uint32_t variable, ExprId value, TypeId type) {
  if (solver_.unify(variables_[variable], type)) return;
  const std::string& name = program_.text(node.variables[variable].name);
  messages_.mismatch(
      value, type, variables_[variable],
      "`" + name + "` is " + describe(variables_[variable]) + ", but its equation gives " + describe(type), {},
      "`" + name + "`");
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

// resolve_names reports a text that is no operator's argument.
TypeId TypeChecker::form(ExprId, const ast::TextLiteral&) { return solver_.fresh(); }

TypeId TypeChecker::form(ExprId e, const ast::Unary& unary) {
  const auto* op = std::get_if<OperatorRef>(&names_.references[e.index]);
  // A negated literal is a literal, also of types that are only stored and not computed with.
  const bool literal = std::holds_alternative<ast::IntLiteral>(program_[unary.operand]) ||
                       std::holds_alternative<ast::FloatLiteral>(program_[unary.operand]);
  if (op && literal && unary.op == UnaryOp::negate) return expr(unary.operand);
  if (op) return apply(e, op->op, {unary.operand});
  expr(unary.operand);
  return solver_.fresh();
}

TypeId TypeChecker::form(ExprId e, const ast::Binary& binary) {
  if (gives_bool(binary.op)) {
    // In a chain of comparisons, the outermost one is visited first.
    const ExprId sampled = sampled_in_front(binary.left);
    if (sampled.valid() && taken_for_conditions_.emplace(sampled, e).second) {
      const TypeId t = applied(e, binary);
      return taken_for_conditions_.contains(sampled) ? t : solver_.fresh();
    }
  }
  return applied(e, binary);
}

// The leading `x when c` of e, if no parentheses enclose it.
ExprId TypeChecker::sampled_in_front(ExprId e) const {
  while (e.valid()) {
    if (const auto* when = std::get_if<ast::When>(&program_[e]))
      return program_.span(e).end == program_.span(when->condition).end ? e : ExprId{};
    const auto* binary = std::get_if<ast::Binary>(&program_[e]);
    if (binary == nullptr || program_.span(e).end != program_.span(binary->right).end) return {};
    e = binary->left;
  }
  return {};
}

TypeId TypeChecker::applied(ExprId e, const ast::Binary& binary) {
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
  messages_.mismatch(e, found, solver_.fresh(dtypes::boolean),
                     std::string(of) + " must be bool, but `" + short_text(program_, e) + "` is " + describe(found));
}

// The common type of two expressions for one value; `what` names the construct.
TypeId TypeChecker::same(ExprId first, ExprId second, const std::string& what) {
  TypeId a = expr(first);
  TypeId b = expr(second);
  if (solver_.unify(a, b)) return a;
  messages_.mismatch(second, b, a, what + " differ in type: " + describe(a) + " and " + describe(b), first);
  return solver_.fresh();
}

TypeId TypeChecker::form(ExprId, const ast::If& choice) {
  condition(choice.condition, "the condition of `if`");
  return same(choice.then_branch, choice.else_branch, "the branches of `if`");
}

TypeId TypeChecker::form(ExprId, const ast::Fby& fby) { return same(fby.init, fby.next, "the two sides of `fby`"); }

TypeId TypeChecker::form(ExprId, const ast::Post& post) { return expr(post.operand); }

TypeId TypeChecker::form(ExprId e, const ast::When& when) {
  TypeId t = expr(when.operand);
  const auto whole = taken_for_conditions_.find(e);
  if (whole == taken_for_conditions_.end()) {
    condition(when.condition, "the condition of `when`");
    return t;
  }
  const TypeId found = expr(when.condition);
  if (solver_.restrict(found, dtypes::boolean, {Why::condition, program_.span(when.condition)})) return t;
  messages_.condition_too_short(e, found, whole->second);
  taken_for_conditions_.erase(whole);
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
      messages_.mismatch(e, t, common,
                         "the elements of an array differ in type: " + describe(common) + " and " + describe(t), first);
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
    if (item.step.valid()) static_integer(item.step, "the step of a range");
  }
  return t;
}

TypeId TypeChecker::form(ExprId e, const ast::Call&) {
  std::vector<TypeId> results = call(e);
  return results.size() == 1 ? results[0] : solver_.fresh();
}

TypeId TypeChecker::form(ExprId, const ast::Error&) { return solver_.fresh(); }

// ---- calls -----------------------------------------------------------------------------

// The operation as the user wrote it: `+`, `matmul`.
std::string TypeChecker::applied_name(ExprId e) const {
  if (const auto* u = std::get_if<ast::Unary>(&program_[e])) return std::string(symbol_text(u->op));
  if (const auto* b = std::get_if<ast::Binary>(&program_[e])) return std::string(symbol_text(b->op));
  if (const auto* c = std::get_if<ast::Call>(&program_[e]))
    if (!c->callee.empty()) return program_.text(c->callee.back());
  return "this";
}

// The types of a call's results; operators and param have one.
std::vector<TypeId> TypeChecker::call(ExprId e) {
  const Reference& to = names_.references[e.index];
  if (const auto* node = std::get_if<NodeRef>(&to)) return node_call(e, node->node);
  if (const auto* op = std::get_if<OperatorRef>(&to)) return {operator_call(e, op->op)};
  if (const auto* load = std::get_if<LoadRef>(&to)) {
    if (load->tensor >= names_.tensors.size()) return {solver_.fresh()};
    return {solver_.fresh(bit(names_.tensors[load->tensor]->dtype()), {Why::call, program_.span(e)})};
  }
  const OrderedArguments& arguments = names_.arguments[e.index];
  if (std::holds_alternative<ParamRef>(to) && arguments.size() == 3 && arguments[1].valid()) {
    condition(arguments[1], "the activity of `param`");
    return {same(arguments[0], arguments[2], "a parameter and its step")};
  }
  TypeId result = solver_.fresh();
  for (ExprId a : arguments)
    if (a.valid()) result = expr(a);
  return {result};
}

std::vector<TypeId> TypeChecker::node_call(ExprId e, NodeId callee) {
  const TypedNode& typed = result_.nodes[callee.index];
  const ast::Node& item = program_.nodes[callee.index];
  const OrderedArguments& arguments = names_.arguments[e.index];
  std::vector<TypeId> results;
  if (typed.has_errors || typed.variable_types.size() < item.inputs.size() + item.outputs.size()) {
    for (ExprId a : arguments) expr(a);
    for (std::size_t i = 0; i < item.outputs.size(); ++i) results.push_back(solver_.fresh());
    return results;
  }
  const Reason here{Why::call, std::get<ast::Call>(program_[e]).callee_span};
  std::vector<TypeId> fresh;
  for (DTypeSet set : typed.scheme.variables) fresh.push_back(solver_.fresh(set, here));
  auto instance = [&](std::size_t variable) {
    TypeTerm t = typed.variable_types[variable];
    return t.variable >= 0 ? fresh[static_cast<std::size_t>(t.variable)] : solver_.fresh(bit(t.dtype), here);
  };
  bool good = true;
  std::vector<TypeId> given;
  for (std::size_t i = 0; i < arguments.size() && i < item.inputs.size(); ++i) {
    TypeId found = given.emplace_back(expr(arguments[i]));
    TypeId wanted = instance(i);
    if (!arguments[i].valid() || solver_.unify(wanted, found)) continue;
    good = false;
    if (messages_.stored_only(arguments[i], found, solver_.set(wanted), "`" + applied_name(e) + "`")) continue;
    Diagnostic& d = messages_.mismatch(arguments[i], found, wanted,
                                       "`" + applied_name(e) + "` takes `" + program_.text(item.inputs[i].name) +
                                           "` as " + describe(wanted) + ", but `" + short_text(program_, arguments[i]) +
                                           "` is " + describe(found),
                                       {}, "parameter `" + program_.text(item.inputs[i].name) + "`");
    messages_.suggest_order(d, e, arguments[i], found, wanted);
    messages_.advise(d, e, callee, program_.text(item.inputs[i].name));
  }
  for (std::size_t i = 0; i < item.outputs.size(); ++i)
    results.push_back(good ? instance(item.inputs.size() + i) : solver_.fresh());
  const auto& how = std::get<ast::Call>(program_[e]).iteration;
  for (std::size_t i = 0; good && how && i < how->states && i < arguments.size(); ++i) {
    const TypeId found = given[i];
    if (solver_.unify(results[i], found)) continue;
    good = false;
    messages_.mismatch(arguments[i], found, results[i],
                       "the state `" + program_.text(item.inputs[i].name) + "` of `" + applied_name(e) + "` is " +
                           describe(found) + ", but becomes " + describe(results[i]),
                       {}, "result `" + program_.text(item.outputs[i].name) + "`");
  }
  instantiated_.emplace_back(e, std::move(fresh));
  return results;
}

TypeId TypeChecker::operator_call(ExprId e, OperatorId op) {
  const OperatorInfo& row = operators()[op];
  const OrderedArguments& arguments = names_.arguments[e.index];
  std::vector<ExprId> operands;
  TypeId fixed;
  std::size_t k = 0, extra = arguments.size() - row.parameters.size();
  for (const OperatorParameter& p : row.parameters) {
    for (std::size_t end = k + 1 + (p.variadic ? extra : 0); k < end && k < arguments.size(); ++k) {
      ExprId a = arguments[k];
      if (p.kind == ParameterKind::operand) {
        if (a.valid()) operands.push_back(a);
      } else if (p.kind == ParameterKind::text) {
        // resolve_names has already checked an argument that is a dtype
      } else if (p.kind != ParameterKind::dtype) {
        if (a.valid()) attribute(a, p, e, row.name);
      } else if (a.valid()) {
        const auto* named = std::get_if<DTypeRef>(&names_.references[a.index]);
        if (named) fixed = solver_.fresh(bit(named->dtype), {Why::annotation, program_.span(a)});
      } else if (auto named = dtype_named(p.default_value)) {
        fixed = solver_.fresh(bit(*named), {Why::call, std::get<ast::Call>(program_[e]).callee_span});
      }
    }
  }
  TypeId result = apply(e, op, operands);
  return fixed.valid() ? fixed : result;
}

// Types the application of one row of the operator table. Variadic operands are given one by one.
TypeId TypeChecker::apply(ExprId e, OperatorId op, const std::vector<ExprId>& operands) {
  const OperatorInfo& row = operators()[op];
  RowVariables variable;
  bool good = true;
  std::size_t p = 0;
  ExprId previous;
  for (ExprId operand : operands) {
    while (p < row.parameters.size() && row.parameters[p].kind != ParameterKind::operand) ++p;
    TypeId found = expr(operand);
    if (p >= row.parameters.size()) continue;
    const DTypeSlot& slot = row.parameters[p].dtype;
    if (!row.parameters[p].variadic) ++p;
    if (!good || !operand.valid()) continue;
    TypeId wanted = variable(solver_, slot);
    const std::string name = applied_name(e);
    if ((solver_.set(found) & slot.allowed) == 0) {
      const bool in_front = slot.allowed == dtypes::boolean && std::holds_alternative<ast::Binary>(program_[e]) &&
                            operand == operands[0] && sampled_in_front(operand) == operand;
      messages_.not_accepted(operand, found, slot.allowed, "`" + name + "`", true, in_front ? e : ExprId{});
      good = false;
    } else if (!solver_.restrict(found, slot.allowed, {Why::use, program_.span(e)}) || !solver_.unify(wanted, found)) {
      std::string pair = previous.valid() ? "`" + short_text(program_, previous) + "` is " + describe(wanted) + ", `" +
                                                short_text(program_, operand) + "` is " + describe(found)
                                          : describe(wanted) + " and " + describe(found);
      messages_.mismatch(operand, found, wanted, "the operands of `" + name + "` differ in type: " + pair, previous);
      good = false;
    }
    previous = operand;
  }
  if (!good) return solver_.fresh();
  bool free = !variable.met(row.result);
  TypeId result = variable(solver_, row.result);
  if (free) solver_.set_fallback(result, row.result.fallback);
  return result;
}

void TypeChecker::attribute(ExprId e, const OperatorParameter& parameter, ExprId call, std::string_view of) {
  std::string who = "`" + std::string(parameter.name) + "` of `" + std::string(of) + "`";
  if (parameter.kind == ParameterKind::integers) {
    static_integer(e, who, call, std::string(of));
    return;
  }
  TypeId found = expr(e);
  if (!solver_.restrict(found, dtypes::number, {Why::use, program_.span(e)}))
    messages_.not_accepted(e, found, dtypes::number, who, false);
  // A number whose type is otherwise open stays f64: it is rounded only once, to the operands'
  // type.
  else if ((solver_.set(found) & ~dtypes::floating) == 0)
    solver_.set_fallback(found, DType::f64);
}

void TypeChecker::static_integer(ExprId e, const std::string& what, ExprId call, const std::string& of) {
  if (!e.valid()) return;
  TypeId found = expr(e);
  if (solver_.restrict(found, dtypes::index, {Why::use, program_.span(e)})) return;
  messages_.no_static_integer(e, found, what, call, of);
}

}  // namespace

Typed infer_types(const Program& program, const Resolved& names, Diagnostics& diagnostics) {
  Typed result;
  result.expr_types.resize(program.exprs.size());
  result.instantiations.resize(program.exprs.size());
  result.nodes.resize(program.nodes.size());
  result.consts.resize(program.consts.size());
  for (const ConstId c : names.const_order) {
    if (names.const_errors[c.index])
      result.consts[c.index] = TypeChecker::anything();
    else
      TypeChecker(program, names, result, diagnostics).check(c);
  }
  for (const NodeId n : names.order) {
    TypedNode& node = result.nodes[n.index];
    node.variable_types.resize(names.nodes[n.index].variables.size());
    node.has_errors = names.nodes[n.index].has_errors;
    if (!node.has_errors) TypeChecker(program, names, result, diagnostics).check(n);
  }
  return result;
}

}  // namespace rml
