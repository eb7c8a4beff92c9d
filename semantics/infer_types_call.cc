// Calls and operator applications (part of infer_types).
//
// A node's call instantiates its scheme with fresh variables. An operator's row gives slots:
// a variable of the row, shared between operands and result, or one fixed dtype; attributes
// are integers, numbers or a dtype's name, which then is the result's dtype.
// Example: `add` has slots 'a, 'a -> 'a with 'a a number; in `n + 0.5`, n: i32, the first
// operand narrows 'a to i32 and the second, a float, does not fit: E0301 at `0.5`.
#include "semantics/infer_types_checker.h"
#include "semantics/signature_text.h"

namespace rml {

namespace {

// The variables of one row, made as they are met.
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

}  // namespace

// How the user wrote the operation: `+`, `matmul`.
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
    if (stored_only(arguments[i], found, solver_.set(wanted), "`" + applied_name(e) + "`")) continue;
    mismatch(arguments[i], found, wanted,
             "`" + applied_name(e) + "` takes `" + program_.text(item.inputs[i].name) + "` as " + describe(wanted) +
                 ", but `" + short_text(program_, arguments[i]) + "` is " + describe(found),
             {}, "parameter `" + program_.text(item.inputs[i].name) + "`");
  }
  for (std::size_t i = 0; i < item.outputs.size(); ++i)
    results.push_back(good ? instance(item.inputs.size() + i) : solver_.fresh());
  const auto& how = std::get<ast::Call>(program_[e]).iteration;
  for (std::size_t i = 0; good && how && i < how->states && i < arguments.size(); ++i) {
    const TypeId found = given[i];
    if (solver_.unify(results[i], found)) continue;
    good = false;
    mismatch(arguments[i], found, results[i],
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
        // resolve_names has looked at it
      } else if (p.kind != ParameterKind::dtype) {
        if (a.valid()) attribute(a, p, row.name);
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

// One row applied to operands (variadic ones expanded).
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
      not_accepted(operand, found, slot.allowed, "`" + name + "`", true);
      good = false;
    } else if (!solver_.restrict(found, slot.allowed, {Why::use, program_.span(e)}) || !solver_.unify(wanted, found)) {
      std::string pair = previous.valid() ? "`" + short_text(program_, previous) + "` is " + describe(wanted) + ", `" +
                                                short_text(program_, operand) + "` is " + describe(found)
                                          : describe(wanted) + " and " + describe(found);
      mismatch(operand, found, wanted, "the operands of `" + name + "` differ in type: " + pair, previous);
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

void TypeChecker::attribute(ExprId e, const OperatorParameter& parameter, std::string_view of) {
  std::string who = "`" + std::string(parameter.name) + "` of `" + std::string(of) + "`";
  if (parameter.kind == ParameterKind::integers) {
    static_integer(e, who, std::string(of));
    return;
  }
  TypeId found = expr(e);
  if (!solver_.restrict(found, dtypes::number, {Why::use, program_.span(e)}))
    not_accepted(e, found, dtypes::number, who, false);
  // A number that nothing else decides keeps its digits: it is rounded to the operands' type alone.
  else if ((solver_.set(found) & ~dtypes::floating) == 0)
    solver_.set_fallback(found, DType::f64);
}

void TypeChecker::static_integer(ExprId e, const std::string& what, const std::string& of) {
  if (!e.valid()) return;
  TypeId found = expr(e);
  if (solver_.restrict(found, dtypes::index, {Why::use, program_.span(e)})) return;
  Diagnostic* d = not_accepted(e, found, dtypes::index, what, false);
  const auto op = operators().find(of);
  if (d == nullptr || !op) return;
  const OperatorInfo& row = operators()[*op];
  if (row.lowering == Lowering::reduce_max || row.lowering == Lowering::reduce_min) {
    d->fixes.clear();
    const std::string pair = of + "imum(a, b)";
    d->note("`" + of + "` is that of one tensor; element by element of two, write `" + pair + "`");
    return;
  }
  std::string list;
  for (const OperatorParameter& p : row.parameters) list += (list.empty() ? "" : ", ") + std::string(p.name);
  d->note("the parameters are, in this order, " + list);
}

}  // namespace rml
