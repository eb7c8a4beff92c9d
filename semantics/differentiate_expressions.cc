// What an expression passes on of its adjoint: operators by the table's rules, subscripts, parameters,
// instances (see differentiate_derivation.h).
#include <algorithm>
#include <charconv>

#include "semantics/differentiate_derivation.h"

namespace rml::derivation {

// ---- operators ----

void NodeDerivation::application(ExprId e, Flow flow) {
  const auto* op = std::get_if<OperatorRef>(&reference(e));
  if (op == nullptr) return;
  const OperatorInfo& row = operators()[op->op];
  if (!elementwise(e)) flow = reduced(std::move(flow), e);
  const auto list = operands(e);
  std::size_t wanted = 0;
  for (const auto& [operand, place] : list) wanted += flows_to(operand);
  if (wanted > 1 || row.lowering != Lowering::elementwise) flow.adjoint = name_of(flow.adjoint);
  Application a{e, &row, arguments(e), {}, 0, 0, flow};
  std::size_t part = 0;
  for (std::size_t k = 0; k < list.size(); ++k) {
    part = k > 0 && list[k].second == list[k - 1].second ? part + 1 : 0;
    a.operand = list[k].first;
    a.place = list[k].second;
    a.part = part;
    if (varied(a.operand)) operand_adjoint(op->op, a);
  }
}

std::vector<ExprId> NodeDerivation::arguments(ExprId e) const {
  if (std::holds_alternative<ast::Call>(expr(e))) return checked_.names.arguments[e.index];
  std::vector<ExprId> list;
  for (const auto& [operand, place] : operands(e)) list.push_back(operand);
  return list;
}

void NodeDerivation::operand_adjoint(OperatorId op, const Application& a) {
  const DerivativeRule& rule = derivative_rule(op, a.place);
  if (!float_expr(a.operand)) {
    // Integers and Booleans have no adjoint; where they come from floats, the user shall know.
    if (a.row->lowering == Lowering::elementwise && a.row->scalar == ScalarOp::cast && a.place == 0)
      refuse(a.self, a.operand, "it makes a float of " + std::string("what is not one"));
    return;
  }
  if (!rule.adjoint.valid()) {
    if (a.row->lowering != Lowering::folded && rule.because.find("only its") == std::string::npos)
      refuse(a.self, a.operand, rule.because);
    return;
  }
  Application use = a;
  // A rule that mentions dy more than once needs a name for it.
  if (mentions(*rule.program, rule.adjoint, "dy") > 1) use.flow.adjoint = name_of(use.flow.adjoint);
  const ExprId adjoint = substitute(*rule.program, rule.adjoint, use, false);
  const ShapeOf shape = a.row->lowering == Lowering::elementwise ? a.flow.shape : shape_of(a.operand);
  push(a.operand, {a.flow.act, adjoint, shape});
}

std::size_t NodeDerivation::mentions(const Program& of, ExprId e, const char* name) {
  if (const auto* n = std::get_if<ast::Name>(&of[e])) return of.text(n->symbol) == name ? 1 : 0;
  std::size_t count = 0;
  for_each_child(of[e], [&](ExprId part) { count += mentions(of, part, name); });
  return count;
}

void NodeDerivation::refuse(ExprId e, ExprId operand, const std::string& because) {
  out_.failed = true;
  const auto* op = std::get_if<OperatorRef>(&reference(e));
  const std::string name = op ? "`" + std::string(operators()[op->op].name) + "`" : "this";
  owner_.diagnostics()
      .report(Code::E0601, program_.span(e), "no gradient flows through " + name + ": " + because,
              "in `" + text(node_.name) + "`, which is differentiated")
      .label(program_.span(operand), "depends on what is to be trained, or on an input")
      .note("write `stop_gradient(…)` around it where none is meant to");
}

// ---- rules ----

// Invalid: every axis, or a list, which stay left out.
ExprId NodeDerivation::attribute_default(const OperatorParameter& p) {
  std::int64_t value = 0;
  const char* end = p.default_value.data() + p.default_value.size();
  if (std::from_chars(p.default_value.data(), end, value).ptr != end || p.default_value.empty()) return {};
  if (value >= 0) return write_.integer(static_cast<std::uint64_t>(value));
  return write_.add(ast::Unary{UnaryOp::negate, write_.integer(static_cast<std::uint64_t>(-value))});
}

// The argument a name of the rule stands for: its place in `arguments`, and how many.
std::optional<std::pair<std::size_t, std::size_t>> NodeDerivation::parameter(const Application& a,
                                                                             const std::string& name,
                                                                             const OperatorParameter*& found) const {
  std::size_t at = 0;
  const std::size_t repeated = a.arguments.size() + 1 - a.row->parameters.size();
  for (const OperatorParameter& p : a.row->parameters) {
    const std::size_t count = p.variadic ? repeated : 1;
    if (p.name == name) {
      found = &p;
      return std::pair(at, count);
    }
    at += count;
  }
  return std::nullopt;
}

// A rule's expression over this application; invalid: an attribute that was left out.
ExprId NodeDerivation::substitute(const Program& of, ExprId e, const Application& a, bool is_static_place) {
  const auto* name = std::get_if<ast::Name>(&of[e]);
  if (name == nullptr) {
    if (const auto* c = std::get_if<ast::Call>(&of[e])) return substitute_call(of, *c, a, is_static_place);
    const ast::Expr original = of[e];
    return write_.add(map_children(original, [&](ExprId part) { return substitute(of, part, a, is_static_place); }));
  }
  const std::string& word = of.text(name->symbol);
  const auto plain = [&](ExprId x) { return is_static_place ? value(x) : sampled(x, a.flow.act); };
  if (word == "dy") return write_.copy(a.flow.adjoint);
  if (word == "y") return plain(a.self);
  if (word == "part") return write_.integer(a.part);
  const OperatorParameter* p = nullptr;
  const auto at = parameter(a, word, p);
  if (!at) return write_.name(program_.names.intern(word));
  if (p->variadic) return plain(a.operand);
  const ExprId argument = a.arguments[at->first];
  if (p->kind == ParameterKind::operand) return plain(argument);
  return argument.valid() ? write_.copy(argument) : attribute_default(*p);
}

ExprId NodeDerivation::substitute_call(const Program& of, const ast::Call& c, const Application& a,
                                       bool is_static_place) {
  const std::string& callee = of.text(c.callee[0]);
  const bool inner = is_static_place || callee == "shape" || callee == "part_starts";
  ast::Call call;
  call.callee = {program_.names.intern(callee)};
  call.callee_span = write_.span;
  call.builtin = true;
  for (const ast::Argument& argument : c.arguments) {
    const Symbol name = argument.name.valid() ? program_.names.intern(of.text(argument.name)) : Symbol{};
    const auto* value_name = std::get_if<ast::Name>(&of[argument.value]);
    if (value_name != nullptr) {
      std::string word = of.text(value_name->symbol);
      const OperatorParameter* p = nullptr;
      if (word.ends_with("__all")) {
        const auto at = parameter(a, word.substr(0, word.size() - 5), p);
        for (std::size_t k = 0; k < at->second; ++k) {
          const ExprId x = a.arguments[at->first + k];
          call.arguments.push_back({{}, write_.span, inner ? value(x) : sampled(x, a.flow.act)});
        }
        continue;
      }
      if (const auto at = parameter(a, word, p);
          at && p->kind != ParameterKind::operand && !a.arguments[at->first].valid() && !attribute_default(*p).valid())
        continue;
    }
    call.arguments.push_back({name, write_.span, substitute(of, argument.value, a, inner)});
  }
  return write_.add(std::move(call));
}

// ---- subscripts ----

// x[i, a:b]: the leading plain indexes by `place`, ranges and constant indexes by `place_slice`.
void NodeDerivation::subscript(ExprId e, const ast::Index& index, Flow flow) {
  const ast::Index x = index;
  flow = reduced(std::move(flow), e);
  std::size_t leading = 0;
  while (leading < x.items.size() && !x.items[leading].is_range) ++leading;
  const bool ranges = leading < x.items.size();
  ExprId d = flow.adjoint;
  const ExprId whole = value(x.operand);
  std::vector<ExprId> indices;
  for (std::size_t k = 0; k < leading; ++k) indices.push_back(sampled(x.items[k].at, flow.act));
  if (ranges) {
    ExprId part = write_.copy(whole);
    if (leading > 0) {
      ast::Index inner{part, {}};
      for (std::size_t k = 0; k < leading; ++k)
        inner.items.push_back({false, value(x.items[k].at), {}, {}, write_.span});
      part = write_.add(std::move(inner));
    }
    std::vector<ExprId> starts, stops;
    ast::Index unit{write_.copy(part), {}};
    bool plain = false;
    for (std::size_t k = leading; k < x.items.size(); ++k) {
      const ast::IndexItem& item = x.items[k];
      const ExprId extent = write_.add(
          ast::Index{shape_expr(write_.copy(part)), {{false, write_.integer(k - leading), {}, {}, write_.span}}});
      if (item.is_range) {
        starts.push_back(item.lower.valid() ? write_.copy(item.lower) : write_.integer(0));
        stops.push_back(item.upper.valid() ? write_.copy(item.upper) : extent);
      } else if (is_static(item.at)) {
        starts.push_back(write_.copy(item.at));
        stops.push_back(write_.binary(BinaryOp::add, write_.copy(item.at), write_.integer(1)));
        plain = true;
      } else {
        out_.failed = true;
        owner_.diagnostics()
            .report(Code::E0601, program_.span(e), "no gradient flows through an index that changes after a range",
                    "in `" + text(node_.name) + "`, which is differentiated")
            .note("bring the axis to the front with `transpose`, and index first");
        return;
      }
      unit.items.push_back({true, {}, write_.copy(starts.back()), write_.copy(stops.back()), write_.span});
    }
    if (plain) d = write_.call("reshape", {shape_expr(write_.add(std::move(unit))), d});
    d = write_.call("place_slice",
                    {shape_expr(part), d, write_.add(ast::Array{starts}), write_.add(ast::Array{stops})});
  }
  if (leading > 0) {
    std::vector<ExprId> arguments{shape_expr(write_.copy(whole)), d};
    arguments.insert(arguments.end(), indices.begin(), indices.end());
    d = write_.call("place", arguments);
  }
  push(x.operand, {flow.act, d, shape_of(x.operand)});
}

// ---- parameters and instances ----

void NodeDerivation::nested_parameter(ExprId e, const Flow& flow) {
  const Symbol p = named(e);
  const auto& q = node_.equations[equation_];
  const bool root = q.value == e && q.targets.size() == 1;
  const Symbol adjoint = std::get<ast::Name>(program_[name_of(flow.adjoint)]).symbol;
  Symbol step = adjoint;
  if (key_.optimizer.valid()) {
    step = fresh("step_" + text(p));
    const ClockTermId clock = checked_.clocks.expr_clocks[e.index];
    const std::vector<Sampling> conditions = chain(clock);
    ast::Call call;
    call.callee = {program_[key_.optimizer].name};
    call.callee_span = write_.span;
    call.target = key_.optimizer;
    for (const Symbol rate : rates_.at(root_of(clocked_, clock)))
      call.arguments.push_back({{}, write_.span, on(write_.name(rate), conditions)});
    for (const ExprId a : {write_.name(flow.act), write_.name(adjoint), write_.when(write_.name(p), flow.act)})
      call.arguments.push_back({{}, write_.span, a});
    equation(step, write_.add(std::move(call)));
  }
  const Symbol act = flow.act;
  const Span span = program_.span(e);
  const ast::Target target = root ? q.targets[0] : ast::Target{p, span, std::nullopt};
  special_[e] = [this, e, act, step, target, span] {
    ast::Call call = identified(e);
    const ExprId init = checked_.names.arguments[e.index][0];
    const ExprId moves = checked_.names.arguments[e.index].size() > 1 ? checked_.names.arguments[e.index][1] : ExprId{};
    const ExprId moved = moves.valid() ? checked_.names.arguments[e.index][2] : ExprId{};
    call.arguments = {{{}, span, copy(init)}, {{}, span, write_.name(act)}, {{}, span, write_.name(step)}};
    if (moves.valid()) {  // a step of its own: both
      write_.span = span;
      const ExprId sum = write_.binary(BinaryOp::add, padded(act, write_.name(step)),
                                       write_.add(ast::Merge{copy(moves), copy(moved), write_.zero()}));
      const Symbol either = fresh("act");
      equation(either, write_.binary(BinaryOp::logical_or, write_.name(act), copy(moves)));
      call.arguments[1].value = write_.name(either);
      call.arguments[2].value = write_.when(sum, either);
    }
    return ast::Equation{{target}, program_.add(std::move(call), span), span};
  };
}

void NodeDerivation::nested_call(ExprId e, const Flow& flow) {
  named(e);
  const ExprId adjoint = name_of(flow.adjoint);
  node_call(e, {{flow.act, std::get<ast::Name>(program_[adjoint]).symbol}});
}

// The conditions between the root of g's clocks and a clock of its interface, in our names.
std::vector<Sampling> NodeDerivation::callee_chain(ExprId e, NodeId g, ClockTermId term,
                                                   const std::vector<ast::Target>& targets) {
  const ClockedNode& clocked = checked_.clocks.nodes[g.index];
  const std::size_t inputs = program_[g].inputs.size();
  std::vector<Sampling> list;
  for (; term.valid() && clocked.terms[term.index].kind == ClockTerm::on; term = clocked.terms[term.index].parent) {
    const ClockTerm& t = clocked.terms[term.index];
    const auto v = static_cast<std::size_t>(t.condition.variable);
    const Symbol c = v < inputs ? condition(checked_.names.arguments[e.index][v]) : targets[v - inputs].name;
    list.push_back({{}, c, t.positive});
  }
  std::ranges::reverse(list);
  return list;
}

// For each root of the callee's clocks one activity, for all outputs on clocks from there.
std::vector<Symbol> NodeDerivation::callee_activities(ExprId e, NodeId g, const Derivative& derived,
                                                      const std::vector<Adjoint>& adjoints,
                                                      const std::vector<ast::Target>& targets) {
  const ClockedNode& clocked = checked_.clocks.nodes[g.index];
  std::vector<Symbol> result;
  for (const std::uint32_t root : derived.roots) {
    std::vector<Symbol> acts;
    for (std::size_t j = 0; j < adjoints.size(); ++j) {
      const ClockTermId clock = clocked.variable_clocks[program_[g].inputs.size() + j];
      if (!adjoints[j].given() || (!derived.written && root_of(clocked, clock) != root)) continue;
      Symbol act = adjoints[j].act;
      const std::vector<Sampling> conditions = callee_chain(e, g, clock, targets);
      for (std::size_t k = conditions.size(); k-- > 0;) {
        const auto from = sampled_from_.find(act);
        act = from != sampled_from_.end() && from->second.condition == conditions[k].condition &&
                      from->second.positive == conditions[k].positive
                  ? from->second.act
                  : act_lift(act, conditions[k].condition, conditions[k].positive);
      }
      if (std::ranges::find(acts, act) == acts.end()) acts.push_back(act);
    }
    result.push_back(acts.size() == 1 ? acts[0] : act_any(acts, "bp_" + text(program_[g].name)));
  }
  return result;
}

// The activity of g's root that a clock of its interface hangs on.
Symbol NodeDerivation::callee_activity(NodeId g, const Derivative& derived, const std::vector<Symbol>& activities,
                                       ClockTermId clock) const {
  if (derived.written) return activities[0];
  const auto at = std::ranges::find(derived.roots, root_of(checked_.clocks.nodes[g.index], clock));
  return at == derived.roots.end() ? Symbol{} : activities[static_cast<std::size_t>(at - derived.roots.begin())];
}

// What is fed to g as the adjoints of its outputs.
std::vector<Symbol> NodeDerivation::callee_adjoints(ExprId e, NodeId g, const Derivative& derived,
                                                    const std::vector<Adjoint>& adjoints,
                                                    const std::vector<Symbol>& activities,
                                                    std::vector<ast::Target>& targets) {
  const ClockedNode& clocked = checked_.clocks.nodes[g.index];
  std::vector<Symbol> outputs;
  for (const std::uint32_t j : derived.adjoints) {
    const ClockTermId clock = clocked.variable_clocks[program_[g].inputs.size() + j];
    const Symbol act = act_on(callee_activity(g, derived, activities, clock), callee_chain(e, g, clock, targets));
    if (adjoints[j].given() && adjoints[j].act == act) {
      outputs.push_back(adjoints[j].value);
      continue;
    }
    if (!targets[j].name.valid()) targets[j].name = fresh(text(program_[g].outputs[j].name));
    ExprId d = adjoints[j].given() ? padded(adjoints[j].act, write_.name(adjoints[j].value))
                                   : write_.call("zeros_like", {write_.name(targets[j].name)});
    outputs.push_back(fresh("d" + text(program_[g].name)));
    equation(outputs.back(), write_.when(d, act));
  }
  return outputs;
}

// The optimizer's arguments, on the clocks of the instance.
std::vector<ExprId> NodeDerivation::callee_rates(ExprId e, const Derivative& derived) {
  std::vector<ExprId> list;
  if (derived.written || key_.rates == 0) return list;
  for (const std::uint32_t root : derived.roots) {
    const auto& clocks = checked_.clocks.instantiations[e.index];
    const ClockTermId clock = root < clocks.size() ? clocks[root] : ClockTermId{};
    for (const Symbol rate : rates_.at(root_of(clocked_, clock))) list.push_back(on(write_.name(rate), chain(clock)));
  }
  return list;
}

void NodeDerivation::node_call(ExprId e, const std::vector<Adjoint>& adjoints) {
  if (std::get<ast::Call>(program_[e]).iteration) return iterated_call(e, adjoints);
  const NodeId g = std::get<NodeRef>(reference(e)).node;
  const auto& q = node_.equations[equation_];
  std::vector<ast::Target> targets = q.targets;
  if (q.value != e) targets = {{named(e), write_.span, std::nullopt}};
  DerivativeKey key{g, {}, {}, key_.optimizer, key_.rates};
  for (const TypeTerm term : checked_.types.instantiations[e.index])
    key.float_variables.push_back(is_float(typed_, term, key_.float_variables));
  for (const Adjoint& a : adjoints) key.outputs.push_back(a.given());
  if (std::ranges::none_of(key.outputs, std::identity{})) return;
  const Derivative derived = owner_.derive(key);
  if (derived.failed) {
    out_.failed = true;
    return;
  }
  const std::vector<Symbol> activities = callee_activities(e, g, derived, adjoints, targets);
  const std::vector<Symbol> outputs = callee_adjoints(e, g, derived, adjoints, activities, targets);
  const OrderedArguments arguments = checked_.names.arguments[e.index];
  std::map<std::uint32_t, Symbol> gradients, own_activities;
  std::vector<ast::Target> extras;
  const auto takes = [&](std::uint32_t input) { return flows_to(arguments[input]); };
  std::map<std::uint32_t, std::uint32_t> active_with;
  for (std::size_t k = 0; k < derived.extras.size(); ++k) {
    const Derivative::Extra& extra = derived.extras[k];
    const bool used = derived.needed(k, takes);
    active_with[extra.input] = extra.active_with;
    const std::string input = used ? text(program_[g].inputs[extra.input].name) : "";
    if (used && extra.kind == Derivative::Extra::activity)
      extras.push_back(write_.target(own_activities[extra.input] = fresh("bp_" + input)));
    else if (used)
      extras.push_back(
          write_.target(gradients[extra.input] = fresh("d" + argument_text(arguments[extra.input], input))));
    else
      extras.push_back(write_.target({}));
  }
  const Span span = program_.span(e);
  targets.insert(targets.end(), extras.begin(), extras.end());
  const std::vector<ExprId> rates = callee_rates(e, derived);
  special_[e] = [this, e, span, arguments, activities, outputs, targets, rates, derived] {
    ast::Call call = identified(e);
    write_.span = span;
    call.target = derived.node;
    call.callee = {program_[derived.node].name};
    call.arguments.clear();
    const auto argument = [&](ExprId a) { call.arguments.push_back({{}, span, a}); };
    for (const ExprId a : arguments) argument(copy(a));
    for (const Symbol bp : activities) argument(write_.name(bp));
    for (const Symbol d : outputs) argument(write_.name(d));
    for (const ExprId rate : rates) argument(rate);
    return ast::Equation{targets, program_.add(std::move(call), span), span};
  };
  const ClockedNode& clocked = checked_.clocks.nodes[g.index];
  for (const auto& [input, gradient] : gradients) {
    const ClockTermId clock = clocked.variable_clocks[input];
    const auto own = own_activities.find(active_with[input]);
    const Symbol act = own != own_activities.end()
                           ? own->second
                           : act_on(callee_activity(g, derived, activities, clock), callee_chain(e, g, clock, targets));
    push(arguments[input], {act, write_.name(gradient), gradient_shape(derived, g, arguments[input])});
  }
}

// What we derive has the argument's shape, and so has the prelude's; a gradient that the user wrote may
// have that of what the argument is broadcast to.
ShapeOf NodeDerivation::gradient_shape(const Derivative& derived, NodeId g, ExprId argument) {
  constexpr ModuleId prelude{1};
  if (!derived.written || program_[g].module == prelude) return shape_of(argument);
  return {std::uint64_t{2} << 32 | argument.index};
}

std::string NodeDerivation::argument_text(ExprId a, const std::string& otherwise) const {
  const auto* v = std::get_if<VariableRef>(&reference(a));
  return v != nullptr && std::holds_alternative<ast::Name>(expr(a)) ? variable_text(v->variable) : otherwise;
}

}  // namespace rml::derivation
