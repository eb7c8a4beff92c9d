// Writes the draft values of expressions in the order of the walk.
#include "semantics/instantiate/expressions.h"

#include <array>
#include <utility>

#include "semantics/check/write_collectives.h"
#include "semantics/core/joint.h"
#include "semantics/values/overloaded.h"

namespace rml::draft {

namespace {

const char* operator_name(BinaryOp op) {
  constexpr std::array<const char*, 13> names = {"logical_or", "logical_and", "eq",  "ne",  "lt",  "le", "gt",
                                                 "ge",         "add",         "sub", "mul", "div", "mod"};
  return names[static_cast<std::size_t>(op)];
}

}  // namespace

// Clocks of variables may refer to variables, so they are set after all variables exist.
Scope open_scope(DraftWriter& write, InstanceId instance, NodeId node, std::vector<DType> dtypes,
                 std::vector<DraftClockId> clocks) {
  Scope scope;
  scope.instance = instance;
  scope.node = node;
  scope.dtypes = std::move(dtypes);
  scope.clocks = std::move(clocks);
  Expressions within(write, scope);
  const ResolvedNode& resolved = write.checked.names.nodes[node.index];
  const ClockedNode& clocked = write.checked.clocks.nodes[node.index];
  const TypedNode& typed = write.checked.types.nodes[node.index];
  for (std::size_t v = 0; v < resolved.variables.size(); ++v)
    scope.variables.push_back(
        within.add(Alias{}, within.dtype(typed.variable_types[v]), base, resolved.variables[v].span));
  for (std::size_t v = 0; v < resolved.variables.size(); ++v) {
    // A clock with an expression as its condition is used only inside the node.
    if (resolved.variables[v].kind == Variable::local) continue;
    const DraftClockId clock = within.clock(clocked.variable_clocks[v]);
    write.draft[scope.variables[v]].clock = clock;
  }
  return scope;
}

DraftId Expressions::add(Rhs rhs, DType dtype, DraftClockId clock, Span span) {
  draft_.values.push_back({std::move(rhs), dtype, clock, span, scope_.instance, {}, is_static_});
  return DraftId{draft_.values.size() - 1};
}

// ---- clocks and dtypes ----

DraftClockId Expressions::clock(ClockTermId term) {
  if (!term.valid() || !scope_.node.valid()) return scope_.constant_clock;
  if (const auto met = scope_.terms.find(term.index); met != scope_.terms.end()) return met->second;
  const ClockTerm& t = checked().clocks.nodes[scope_.node.index].terms[term.index];
  DraftClockId result = base;
  switch (t.kind) {
    case ClockTerm::variable:
      if (t.index < scope_.clocks.size()) result = scope_.clocks[t.index];
      break;
    case ClockTerm::never:
      result = never;
      break;
    case ClockTerm::on: {
      const DraftClockId parent = clock(t.parent);
      const DraftId condition = t.condition.variable >= 0
                                    ? scope_.variables[static_cast<std::size_t>(t.condition.variable)]
                                    : value(t.condition.expr);
      result = write_.on(parent, condition, t.positive);
      break;
    }
  }
  scope_.terms[term.index] = result;
  return result;
}

DraftClockId Expressions::clock_of(ExprId e) {
  const auto& clocks = checked().clocks.expr_clocks;
  return e.index < clocks.size() ? clock(clocks[e.index]) : scope_.constant_clock;
}

DType Expressions::dtype(TypeTerm term) const {
  if (term.variable < 0) return term.dtype;
  const auto v = static_cast<std::size_t>(term.variable);
  return v < scope_.dtypes.size() ? scope_.dtypes[v] : term.dtype;
}

DType Expressions::dtype_of(ExprId e) const {
  const auto& types = checked().types.expr_types;
  return e.index < types.size() && !scope_.untyped ? dtype(types[e.index]) : scope_.untyped_dtype;
}

// ---- values ----

DraftId Expressions::value(ExprId e) {
  if (!e.valid()) return missing(e);
  if (const auto met = scope_.values.find(e.index); met != scope_.values.end()) return met->second;
  const DraftId v = build(e);
  scope_.values[e.index] = v;
  return v;
}

std::vector<DraftId> Expressions::values(ExprId e, std::size_t count) {
  std::vector<DraftId> results;
  const auto* c = e.valid() ? std::get_if<ast::Call>(&program()[e]) : nullptr;
  if (c != nullptr && !scope_.values.contains(e.index)) {
    results = call(e, *c);
    if (!results.empty()) scope_.values[e.index] = results[0];
  } else {
    results = {value(e)};
  }
  while (results.size() < count) results.push_back(missing(e));
  return results;
}

DraftId Expressions::declared(const ast::TypeAnnotation& type, DraftId value, DType dtype, DraftClockId clock,
                              Span span) {
  return add(Declared{value, static_values(type.shape), type.span}, dtype, clock, span);
}

DraftId Expressions::static_value(ExprId e) {
  const auto* a = e.valid() ? std::get_if<ast::Array>(&program()[e]) : nullptr;
  if (a != nullptr && a->elements.empty())
    return add(Const{std::make_shared<const Tensor>(Tensor(DType::i64, {0}))}, DType::i64, base, program().span(e));
  const bool outer = std::exchange(is_static_, true);
  const DraftId v = value(e);
  is_static_ = outer;
  return v;
}

std::vector<DraftId> Expressions::static_values(const std::vector<ExprId>& list) {
  std::vector<DraftId> made;
  for (const ExprId e : list) made.push_back(static_value(e));
  return made;
}

DraftId Expressions::build(ExprId e) {
  return std::visit(
      Overloaded{
          [&](const ast::Name&) { return reference(e); },
          [&](const ast::BoolLiteral& l) {
            const DType dtype = scope_.untyped ? scope_.untyped_dtype : DType::boolean;
            return literal(e, boolean_literal(dtype, l.value));
          },
          [&](const ast::IntLiteral& l) { return literal(e, integer_literal(dtype_of(e), l.value, false)); },
          [&](const ast::FloatLiteral& l) { return literal(e, float_literal(dtype_of(e), l.value)); },
          [&](const ast::TextLiteral&) { return missing(e); },
          [&](const ast::Unary& u) { return unary(e, u); },
          [&](const ast::Binary& b) {
            return operation(e, operators().require(operator_name(b.op)), {b.left, b.right});
          },
          [&](const ast::If& i) { return conditional(e, i); },
          [&](const ast::Fby& f) {
            const DraftId init = value(f.init);
            return add_as(e, Fby{init, value(f.next)});
          },
          [&](const ast::Post& p) { return add_as(e, Post{value(p.operand)}); },
          [&](const ast::When& w) {
            const DraftId operand = value(w.operand);
            return add_as(e, When{operand, value(w.condition), w.positive, false, program().span(w.condition)});
          },
          [&](const ast::Merge& m) {
            const DraftId condition = value(m.condition), on_true = value(m.on_true);
            return add_as(e, Merge{condition, on_true, value(m.on_false), false, program().span(m.condition)});
          },
          [&](const ast::Array& a) { return array(e, a); },
          [&](const ast::Index& i) { return subscript(e, i); },
          [&](const ast::Call& c) {
            const std::vector<DraftId> results = call(e, c);
            return results.empty() ? missing(e) : results[0];
          },
          [&](const ast::Error&) { return missing(e); },
      },
      program()[e]);
}

DraftId Expressions::reference(ExprId e) {
  if (e.index >= checked().names.references.size()) return missing(e);
  return std::visit(Overloaded{
                        [&](std::monostate) { return missing(e); },
                        [&](VariableRef r) { return scope_.variables[r.variable]; },
                        [&](ConstRef r) { return constant_item(r.constant, clock_of(e), dtype_of(e)); },
                        [&](DTypeRef) { return missing(e); },
                        [&](NodeRef) { return missing(e); },
                        [&](OperatorRef) { return missing(e); },
                        [&](ParamRef) { return missing(e); },
                        [&](StopGradientRef) { return missing(e); },
                        [&](LoadRef) { return missing(e); },
                    },
                    checked().names.references[e.index]);
}

// Returns the draft value of a constant. Each constant has one per dtype and clock.
DraftId Expressions::constant_item(ConstId id, DraftClockId clock, DType dtype) {
  if (const DraftId met = write_.constant(id, dtype, clock); met.valid()) return met;
  const bool is_tuned = write_.is_tunable(id) && clock != never;
  if (is_tuned && clock != base) return write_.constant(id, dtype, clock) = tuned(id, clock, dtype);
  const ast::Const& item = program().consts[id.index];
  const ExprId replacement = write_.replacement(id);
  Scope scope;
  scope.instance = scope_.instance;
  scope.dtypes = {dtype};
  scope.constant_clock = clock;
  scope.untyped_dtype = dtype;
  scope.untyped = replacement.valid();
  Expressions within(write_, scope);
  within.is_static_ = is_static_;
  DraftId v = within.value(replacement.valid() ? replacement : item.value);
  scope.untyped = false;
  if (item.type) v = within.declared(*item.type, v, dtype, clock, item.name_span);
  if (is_tuned) v = first_tuned(id, v, dtype);
  return write_.constant(id, dtype, clock) = v;
}

// A tunable constant is the parameter p = e fby p of the entry. Returns p for its value e.
DraftId Expressions::first_tuned(ConstId id, DraftId v, DType dtype) {
  const ast::Const& item = program().consts[id.index];
  const std::string name = program().text(item.name);
  const auto refuse = [&](const std::string& why, const std::string& note) {
    write_.diagnostics.report(Code::E0207, item.name_span, "`" + name + "` cannot be tunable: " + why).note(note);
    return v;
  };
  if (write_.is_body)
    return refuse("a node that `map`, `fold` or `scan` applies uses it",
                  "give it to the node as a fixed argument, after the last `;`");
  for (const NamedValue& p : draft_.parameters)
    if (p.span == item.name_span)
      return refuse(
          "it is used as " + std::string(rml::name(draft_[p.value].dtype)) + " and as " + std::string(rml::name(dtype)),
          "declare its type, as in `const " + name + ": " + std::string(rml::name(dtype)) + " = …`");
  const DraftId held = add(Fby{v, v}, dtype, base, item.name_span);
  std::get<Fby>(draft_[held].rhs).next = held;
  draft_[held].instance = InstanceId{0};
  draft_[held].name = name;
  draft_[held].is_static = false;
  draft_.parameters.push_back({name, held, base, item.name_span});
  return held;
}

// The tunable constant on a sampled clock.
DraftId Expressions::tuned(ConstId id, DraftClockId clock, DType dtype) {
  const DraftClock at = draft_.clocks[clock.index];
  const DraftId above = constant_item(id, at.parent, dtype);
  const Span span = program().consts[id.index].name_span;
  return add(When{above, at.condition, at.positive, false, span}, dtype, clock, span);
}

DraftId Expressions::literal(ExprId e, Literal made) {
  const Span span = program().span(e);
  // Only an override may have a kind that its dtype does not have; everything else has been
  // checked.
  if (!made.problem.empty() && (made.code != Code::E0902 || scope_.untyped)) {
    Diagnostic& d = write_.diagnostics.report(made.code, span, std::move(made.problem), std::move(made.label));
    add_instance_chain(d, draft_, program(), scope_.instance);
  }
  if (made.value == nullptr) return missing(e);
  const DType dtype = made.value->dtype();
  return add(Const{std::move(made.value)}, dtype, clock_of(e), span);
}

DraftId Expressions::unary(ExprId e, const ast::Unary& u) {
  if (u.op == UnaryOp::negate) {
    // The result of negating 0 is +0 for an integer and -0.0 for a float.
    if (const auto* l = std::get_if<ast::IntLiteral>(&program()[u.operand]))
      return literal(e, integer_literal(dtype_of(e), l->value, true));
    if (const auto* l = std::get_if<ast::FloatLiteral>(&program()[u.operand]))
      return literal(e, float_literal(dtype_of(e), -l->value));
  }
  return operation(e, operators().require(u.op == UnaryOp::negate ? "negate" : "logical_not"), {u.operand});
}

DraftId Expressions::array(ExprId e, const ast::Array& a) {
  if (a.elements.empty()) return add_as(e, Const{std::make_shared<const Tensor>(Tensor(dtype_of(e), {0}))});
  return operation(e, operators().require("array"), a.elements);
}

DraftId Expressions::sample(ExprId of, bool positive, DraftId condition, Span written, DraftClockId sampled) {
  const DraftId operand = value(of);
  return add(When{operand, condition, positive, true, written}, draft_[operand].dtype, sampled, program().span(of));
}

DraftId Expressions::conditional(ExprId e, const ast::If& i) {
  const DraftId condition = value(i.condition);
  const DraftClockId ck = clock_of(e);
  const Span written = program().span(i.condition);
  const DraftId on_true = sample(i.then_branch, true, condition, written, write_.on(ck, condition, true));
  const DraftId on_false = sample(i.else_branch, false, condition, written, write_.on(ck, condition, false));
  return add(Merge{condition, on_true, on_false, true, written}, dtype_of(e), ck, program().span(e));
}

DraftId Expressions::subscript(ExprId e, const ast::Index& i) {
  Index index{value(i.operand), {}};
  const auto optional = [&](ExprId bound) { return bound.valid() ? value(bound) : DraftId{}; };
  for (const ast::IndexItem& item : i.items)
    index.items.push_back(
        {item.is_range, optional(item.at), optional(item.lower), optional(item.upper), optional(item.step), item.span});
  return add_as(e, std::move(index));
}

// `arguments` are in the order of the row's parameters, with a variadic one expanded.
DraftId Expressions::operation(ExprId e, OperatorId op, const std::vector<ExprId>& arguments) {
  const OperatorInfo& row = operators()[op];
  Apply apply{op, {}, {}, 0};
  std::size_t next = 0;
  const std::size_t repeated = arguments.size() + 1 - std::min(row.parameters.size(), arguments.size() + 1);
  for (const OperatorParameter& parameter : row.parameters) {
    for (std::size_t k = parameter.variadic ? repeated : 1; k > 0; --k, ++next) {
      const ExprId argument = next < arguments.size() ? arguments[next] : ExprId{};
      if (parameter.kind == ParameterKind::operand) {
        apply.operands.push_back(argument.valid() ? value(argument) : missing(e));
      } else {
        apply.attributes.push_back(attribute(parameter, argument));
      }
    }
  }
  if (row.random) {
    const std::string path = scope_.instance.valid() ? draft_.instances[scope_.instance.index].path : "";
    apply.key = path_key(path + "/" + write_.identity(scope_.node, e));
  }
  if (is_joint(apply.op)) apply.key = joint_key(e);
  return add_as(e, std::move(apply));
}

// Returns the key of a sum over parameters. Sums have the same group if they are at the same place
// in the optimiser, under the outermost of the nested derived nodes; a sum outside optimisers is
// its own group. The call of an optimiser is recognised by its fixed target, which differentiation
// writes. The other calls with a fixed target lead to derived nodes or are copies.
std::uint64_t Expressions::joint_key(ExprId e) const {
  const std::string place = "/" + write_.identity(scope_.node, e);
  const auto at = [&](InstanceId i) -> const Instance& { return draft_.instances[i.index]; };
  InstanceId i = scope_.instance;
  const std::string path = i.valid() ? at(i).path : "";
  const auto is_optimizer = [&](InstanceId k) {
    const auto* call =
        k.index < draft_.calls.size() ? std::get_if<ast::Call>(&program()[draft_.calls[k.index].call]) : nullptr;
    return call != nullptr && call->target.valid() && !at(k).derived;
  };
  while (i.valid() && at(i).parent.valid() && !is_optimizer(i)) i = at(i).parent;
  if (!i.valid() || !at(i).parent.valid()) return rml::joint_key(path + place, path + place);
  const std::string inner = path.substr(at(i).path.size()), outermost = write_.outermost_derived(at(i).parent);
  return rml::joint_key(outermost + "/" + std::to_string(at(i).node.index) + inner + place, path + place);
}

StaticArgument Expressions::attribute(const OperatorParameter& parameter, ExprId argument) {
  StaticArgument a;
  a.kind = parameter.kind;
  if (!argument.valid()) {
    a.known = default_attribute(parameter.default_value, parameter.kind);
  } else if (parameter.kind == ParameterKind::dtype) {
    a.known.given = true;
    if (const auto* named = std::get_if<DTypeRef>(&checked().names.references[argument.index]))
      a.known.dtype = named->dtype;
  } else if (parameter.kind == ParameterKind::text) {
    a.known.given = true;
    if (const auto* text = std::get_if<ast::TextLiteral>(&program()[argument])) a.known.text = text->value;
  } else {
    a.value = static_value(argument);
  }
  return a;
}

// ---- calls ----

std::vector<DraftId> Expressions::call(ExprId e, const ast::Call& c) {
  if (e.index >= checked().names.references.size()) return {missing(e)};
  const OrderedArguments& given = checked().names.arguments[e.index];
  const auto first = [&] { return given.empty() ? missing(e) : value(given[0]); };
  const auto& tensors = checked().names.tensors;
  return std::visit(Overloaded{
                        [&](std::monostate) { return std::vector{missing(e)}; },
                        [&](VariableRef) { return std::vector{missing(e)}; },
                        [&](ConstRef) { return std::vector{missing(e)}; },
                        [&](DTypeRef) { return std::vector{missing(e)}; },
                        [&](NodeRef r) { return c.iteration ? iteration(e, c, r.node) : instance(e, c, r.node); },
                        [&](OperatorRef r) { return std::vector{operation(e, r.op, given)}; },
                        [&](ParamRef) { return std::vector{parameter(e, first(), given)}; },
                        [&](StopGradientRef) { return std::vector{stopped(e, first())}; },
                        [&](LoadRef r) {
                          const bool is_known = r.tensor < tensors.size();
                          return std::vector{is_known ? add_as(e, Const{tensors[r.tensor]}) : missing(e)};
                        },
                    },
                    checked().names.references[e.index]);
}

std::vector<DraftId> Expressions::arguments(ExprId call) {
  std::vector<DraftId> list;
  for (const ExprId argument : checked().names.arguments[call.index])
    list.push_back(argument.valid() ? value(argument) : missing(call));
  return list;
}

std::vector<DType> Expressions::callee_dtypes(ExprId call) const {
  std::vector<DType> list;
  for (const TypeTerm term : checked().types.instantiations[call.index]) list.push_back(dtype(term));
  return list;
}

// Aliases for the callee's outputs, whose targets the callee sets.
std::vector<DraftId> Expressions::instance(ExprId e, const ast::Call& call, NodeId node) {
  const InstanceId id{draft_.instances.size()};
  draft_.instances.push_back({scope_.instance, node, call.callee_span, qualified(write_.identity(scope_.node, e)),
                              program()[node].derived_from.valid(), as_steps_node(program(), node)});
  std::vector<DraftId> given = arguments(e);
  if (draft_.calls.size() <= id.index) draft_.calls.resize(id.index + 1);
  draft_.calls[id.index] = {e, given};
  std::vector<DraftClockId> clocks;
  for (const ClockTermId term : checked().clocks.instantiations[e.index]) clocks.push_back(clock(term));
  Scope callee = open_scope(write_, id, node, callee_dtypes(e), std::move(clocks));
  callee.arguments = std::move(given);
  callee.calls = scope_.calls + 1;
  std::vector<DraftId> results;
  const ResolvedNode& resolved = checked().names.nodes[node.index];
  for (std::size_t v = 0; v < resolved.variables.size(); ++v)
    if (resolved.variables[v].kind == Variable::output) results.push_back(callee.variables[v]);
  write_.pending.push_back(std::move(callee));
  return results;
}

// Writes one draft value for the whole iteration, and one for each of its results.
std::vector<DraftId> Expressions::iteration(ExprId e, const ast::Call& call, NodeId node) {
  Iterate iterate{nullptr, arguments(e)};
  std::vector<DType> dtypes = callee_dtypes(e);
  const auto& clocks = checked().clocks.instantiations[e.index];
  const DraftClockId at = clocks.empty() ? base : clock(clocks[0]);
  const TypedNode& typed = checked().types.nodes[node.index];
  const ast::Node& item = program()[node];
  std::vector<DType> types;
  for (std::size_t k = 0; k < item.outputs.size(); ++k) {
    const TypeTerm t = typed.variable_types[item.inputs.size() + k];
    types.push_back(t.variable < 0 ? t.dtype : dtypes[static_cast<std::size_t>(t.variable)]);
  }
  iterate.of =
      std::make_shared<Iterator>(program(), write_.instantiate_body, Depth{scope_.calls + 1, write_.depth.loops + 1},
                                 node, *call.iteration, call.callee_span, std::move(dtypes), called_at(e, node));
  const DraftId called = add(std::move(iterate), types[0], at, program().span(e));
  std::vector<DraftId> results;
  for (std::uint32_t k = 0; k < types.size(); ++k)
    results.push_back(add(Result{called, k}, types[k], at, program().span(e)));
  return results;
}

// Only a node that has memory (lives_in_time) has parts that the place of its call identifies.
CalledAt Expressions::called_at(ExprId e, NodeId node) {
  if (!checked().names.nodes[node.index].lives_in_time) return {};
  const bool is_derived = draft_.instances[scope_.instance.index].derived;
  return {qualified(write_.identity(scope_.node, e)),
          is_derived ? write_.outermost_derived(scope_.instance) : std::string()};
}

// param(e) keeps the value of e at the first cycle, so a random initialiser is drawn once. It is
// identified by the path of the instance and the variable of its equation. param(e, act, step)
// starts with e, and step is added to it where act holds:
//
//   p = fby e %1    %1 = merge act %2 (p when not act)    %2 = add (p when act) step
DraftId Expressions::parameter(ExprId e, DraftId v, const OrderedArguments& arguments) {
  const DraftId held = add_as(e, Fby{v, v});
  // Separate statements: the draft grows, and compilers may evaluate the left-hand side first.
  const DraftId next = arguments.size() == 3 && arguments[1].valid() ? moved(e, held, arguments) : held;
  std::get<Fby>(draft_[held].rhs).next = next;
  draft_.parameters.push_back({qualified(write_.identity(scope_.node, e)), held, clock_of(e), program().span(e)});
  return held;
}

DraftId Expressions::moved(ExprId e, DraftId held, const OrderedArguments& arguments) {
  const DType dtype = dtype_of(e);
  const DraftClockId ck = clock_of(e);
  const Span span = program().span(arguments[2]);
  const DraftId act = value(arguments[1]);
  const DraftId step = value(arguments[2]);
  const auto sampled = [&](bool positive) {
    return add(When{held, act, positive, false, span}, dtype, write_.on(ck, act, positive), span);
  };
  const DraftId stays = sampled(false);
  const DraftId changed =
      add(Apply{operators().require("add"), {sampled(true), step}, {}, 0}, dtype, write_.on(ck, act, true), span);
  return add(Merge{act, changed, stays, false, span}, dtype, ck, span);
}

// stop_gradient(e) equals e; it becomes a value of its own if it must be distinguished.
DraftId Expressions::stopped(ExprId e, DraftId v) {
  const DType dtype = dtype_of(e);
  if (!write_.keep_stops || !is_float(dtype)) return v;
  StaticArgument to;
  to.kind = ParameterKind::dtype;
  to.known.given = true;
  to.known.dtype = dtype;
  v = add_as(e, Apply{operators().require("cast"), {v}, {to}, 0});
  draft_.parameters.push_back({"", v, clock_of(e), program().span(e)});
  return v;
}

// A placeholder for an expression with an error that was already reported.
DraftId Expressions::missing(ExprId e) {
  const DType dtype = e.valid() ? dtype_of(e) : DType::f32;
  return add(Const{std::make_shared<const Tensor>(Tensor(dtype, {}))}, dtype, base,
             e.valid() ? program().span(e) : Span{});
}

}  // namespace rml::draft
