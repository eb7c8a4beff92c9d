// The rounds of differentiation, and calls of `diff` in the program (see differentiate.h).
//
// In each round the program is checked as it is; nodes that hold a `diff` count as unsound
// until it is expanded. A call becomes one of the derived node, whose gradients, present where
// their activity holds, are padded with zeros:
//
//   y, dx = diff f(x, bp, dy);      y, dx2 = diff_f(x, bp, dy);   dx = merge bp dx2 0.0;
#include "semantics/differentiate.h"

#include <algorithm>

#include "semantics/differentiate_node.h"

namespace rml {

bool is_float(const TypedNode& node, TypeTerm term, const std::vector<bool>& floats) {
  (void)node;
  if (term.variable < 0) return has_gradient(term.dtype);
  return static_cast<std::size_t>(term.variable) < floats.size() && floats[static_cast<std::size_t>(term.variable)];
}

std::vector<bool> possible_floats(const TypeScheme& scheme) {
  std::vector<bool> floats;
  for (const DTypeSet set : scheme.variables) floats.push_back((set & dtypes::real) != 0);
  return floats;
}

std::uint32_t root_of(const ClockedNode& node, ClockTermId term) {
  while (term.valid() && node.terms[term.index].kind == ClockTerm::on) term = node.terms[term.index].parent;
  return term.valid() && node.terms[term.index].kind == ClockTerm::variable ? node.terms[term.index].index : UINT32_MAX;
}

FreshNames::FreshNames(Program& program, const ast::Node& node) : program_(program) {
  const std::function<void(ExprId)> look = [&](ExprId e) {
    if (const auto* name = std::get_if<ast::Name>(&program[e])) taken_.insert(name->symbol);
    for_each_child(program[e], look);
  };
  const auto declare = [&](Symbol name, const std::optional<ast::TypeAnnotation>& type) {
    taken_.insert(name);
    if (type) std::ranges::for_each(type->shape, look);
  };
  for (const auto* list : {&node.inputs, &node.outputs})
    for (const ast::Parameter& p : *list) declare(p.name, p.type);
  for (const ast::Equation& q : node.equations) {
    for (const ast::Target& t : q.targets) declare(t.name, t.type);
    look(q.value);
  }
  for (const ast::Assert& a : node.asserts) look(a.condition);
}

Symbol FreshNames::operator()(const std::string& base) {
  Symbol s = program_.names.intern(base);
  for (int k = 2; !taken_.insert(s).second; ++k) s = program_.names.intern(base + std::to_string(k));
  return s;
}

void Differentiation::check() {
  Diagnostics unheard;
  checked_ = Checked{};
  checked_.program = &program_;
  checked_.names = resolve_names(program_, unheard);
  checked_.types = infer_types(program_, checked_.names, unheard);
  checked_.clocks = infer_clocks(program_, checked_.names, checked_.types, unheard);
  parameters_.clear();
}

bool Differentiation::sound(NodeId node) const {
  const std::size_t n = node.index;
  if (n >= checked_.names.nodes.size() || n >= checked_.types.nodes.size() || n >= checked_.clocks.nodes.size())
    return false;
  if (checked_.names.nodes[n].has_errors || checked_.types.nodes[n].has_errors || checked_.clocks.nodes[n].has_errors)
    return false;
  const auto& callees = checked_.names.nodes[n].callees;
  return std::ranges::all_of(callees, [&](NodeId callee) { return sound(callee); });
}

bool Differentiation::has_parameters(NodeId node) {
  if (const auto known = parameters_.find(node); known != parameters_.end()) return known->second;
  bool found = false;
  const std::function<void(ExprId)> look = [&](ExprId e) {
    const Reference& to = checked_.names.references[e.index];
    if (std::holds_alternative<ParamRef>(to)) found = true;
    for_each_child(program_[e], look);
  };
  for (const ast::Equation& q : program_[node].equations)
    if (q.value.valid()) look(q.value);
  for (const NodeId callee : checked_.names.nodes[node.index].callees) found = found || has_parameters(callee);
  return parameters_[node] = found;
}

DerivativeKey Differentiation::outermost(NodeId node) const {
  const TypedNode& typed = checked_.types.nodes[node.index];
  DerivativeKey key{node, possible_floats(typed.scheme), {}, {}, 0};
  const ast::Node& item = program_[node];
  for (std::size_t j = 0; j < item.outputs.size(); ++j)
    key.outputs.push_back(is_float(typed, typed.variable_types[item.inputs.size() + j], key.float_variables));
  return key;
}

// A node `diff_g` beside g, or in the main file.
bool Differentiation::find_written(const DerivativeKey& key, Derivative& out) {
  const ast::Node of = program_[key.node];
  const Symbol name = program_.names.intern("diff_" + program_.text(of.name));
  for (const ModuleId module : {of.module, ModuleId{0}}) {
    for (const NodeId n : program_.modules[module.index].nodes)
      if (program_[n].name == name) out.node = n;
    if (out.node.valid()) break;
  }
  if (!out.node.valid()) return false;
  out.written = true;
  out.roots = {UINT32_MAX};
  const ast::Node& node = program_[out.node];
  const auto complain = [&](const std::string& what) {
    diagnostics_
        .report(Code::E0603, node.name_span, "`" + program_.text(name) + "` " + what,
                "taken as the gradient of `" + program_.text(of.name) + "`")
        .note("its inputs are those of `" + program_.text(of.name) +
              "`, a Boolean `bp` and an adjoint for each float output; its outputs those of `" +
              program_.text(of.name) + "`, then the gradients, named `d` and the input");
    out.failed = true;
  };
  for (std::uint32_t j = 0; j < key.outputs.size(); ++j) {
    const TypedNode& typed = checked_.types.nodes[key.node.index];
    if (is_float(typed, typed.variable_types[of.inputs.size() + j], key.float_variables)) out.adjoints.push_back(j);
  }
  const std::size_t inputs = of.inputs.size() + 1 + out.adjoints.size();
  if (node.inputs.size() != inputs) {
    complain("has " + std::to_string(node.inputs.size()) + " inputs, not " + std::to_string(inputs));
    return true;
  }
  if (node.outputs.size() < of.outputs.size()) {
    complain("has fewer outputs than `" + program_.text(of.name) + "`");
    return true;
  }
  for (std::size_t k = of.outputs.size(); k < node.outputs.size(); ++k) {
    Derivative::Extra extra;
    const std::string& output = program_.text(node.outputs[k].name);
    for (std::uint32_t i = 0; i < of.inputs.size(); ++i) {
      const std::string& input = program_.text(of.inputs[i].name);
      if (output == "d" + input) extra = {Derivative::Extra::gradient, i, Derivative::no_input};
      if (output == "bp_" + input || output == "bp" + input)
        extra = {Derivative::Extra::activity, i, Derivative::no_input};
    }
    for (const Derivative::Extra& before : out.extras)
      if (before.kind == Derivative::Extra::activity && before.input == extra.input) extra.active_with = extra.input;
    out.extras.push_back(extra);
  }
  return true;
}

const Derivative& Differentiation::derive(const DerivativeKey& key) {
  if (const auto known = derivatives_.find(key); known != derivatives_.end()) return known->second;
  Derivative& out = derivatives_[key];
  if (find_written(key, out)) return out;
  const ast::Node& of = program_[key.node];
  if (of.external()) {
    diagnostics_
        .report(Code::E0602, of.name_span, "external node `" + program_.text(of.name) + "` has no gradient",
                "differentiated, but only C knows its equations")
        .note("write a node `diff_" + program_.text(of.name) + "`, or stop the gradient with `stop_gradient`");
    out.failed = true;
    return out;
  }
  ast::Node node = derive_node(*this, key, fresh_name("diff_" + program_.text(of.name)), out);
  if (out.failed) return out;
  out.node = add(std::move(node));
  return out;
}

std::string Differentiation::fresh_name(const std::string& base) {
  const std::uint32_t k = variants_[base]++;
  return k == 0 ? base : base + "_" + std::to_string(k + 1);
}

NodeId Differentiation::add(ast::Node node) {
  made_.push_back(NodeId{program_.nodes.size()});
  program_.nodes.push_back(std::move(node));
  return made_.back();
}

void Differentiation::fail(const DiffCall& call) { program_.exprs[call.call.index] = ast::Error{}; }

bool Differentiation::round() {
  check();
  const std::vector<DiffCall> calls = checked_.names.diff_calls;
  bool changed = false;
  for (const DiffCall& call : calls) {
    if (!sound(call.of) || (call.optimizer.valid() && !sound(call.optimizer))) continue;
    expand(call);
    changed = true;
  }
  return changed;
}

namespace {

// The equation of a node whose whole right-hand side is e.
std::optional<std::size_t> equation_of(const ast::Node& node, ExprId e) {
  for (std::size_t q = 0; q < node.equations.size(); ++q)
    if (node.equations[q].value == e) return q;
  return std::nullopt;
}

}  // namespace

// An adjoint written as 0.0 is none: the places of these among the arguments, last first. Their
// outputs leave the key.
std::vector<std::size_t> Differentiation::zero_adjoints(const ast::Call& call, std::size_t first,
                                                        DerivativeKey& key) const {
  const auto is_zero = [&](ExprId e) {
    while (const auto* sampled = std::get_if<ast::When>(&program_[e])) e = sampled->operand;
    const auto* literal = std::get_if<ast::FloatLiteral>(&program_[e]);
    return literal != nullptr && literal->value == 0.0;
  };
  std::vector<std::size_t> places, outputs;
  std::size_t next = first;
  for (std::size_t j = 0; j < key.outputs.size(); ++j) {
    if (!key.outputs[j]) continue;
    if (next < call.arguments.size() && is_zero(call.arguments[next].value)) {
      places.insert(places.begin(), next);
      outputs.push_back(j);
    }
    ++next;
  }
  if (next != call.arguments.size()) return {};  // to be reported
  for (const std::size_t j : outputs) key.outputs[j] = false;
  return places;
}

// Whether copies of e have its value, and are the same condition.
bool Differentiation::is_pure(ExprId e) const {
  const ast::Expr& x = program_[e];
  if (std::holds_alternative<ast::Fby>(x) || std::holds_alternative<ast::Post>(x) ||
      std::holds_alternative<ast::Merge>(x))
    return false;
  if (std::holds_alternative<ast::Call>(x)) {
    const auto* op = std::get_if<OperatorRef>(&checked_.names.references[e.index]);
    if (op == nullptr || operators()[op->op].random) return false;
  }
  bool pure = true;
  for_each_child(x, [&](ExprId part) { pure = pure && is_pure(part); });
  return pure;
}

void Differentiation::expand(const DiffCall& at) {
  DerivativeKey key = outermost(at.of);
  auto call = std::get<ast::Call>(program_[at.call]);
  const std::string of = program_.text(program_[at.of].name);
  if (call.diff && !call.diff->optimizer.empty()) {
    key.optimizer = at.optimizer;
    key.rates = call.diff->optimizer_arguments.size();
    const ast::Node& optimizer = program_[at.optimizer];
    if (optimizer.inputs.size() != key.rates + 3 || optimizer.outputs.size() != 1) {
      diagnostics_
          .report(Code::E0604, call.diff->span,
                  "`" + program_.text(optimizer.name) + "` cannot be an optimizer with " + std::to_string(key.rates) +
                      " argument" + (key.rates == 1 ? "" : "s"),
                  "it has " + std::to_string(optimizer.inputs.size()) + " inputs and " +
                      std::to_string(optimizer.outputs.size()) + " outputs")
          .note("an optimizer is a node `" + program_.text(optimizer.name) +
                "(arguments…, act, g, p) -> (step)`: see the manual");
      return fail(at);
    }
  }
  const ast::Node original = program_[at.of];
  const std::vector<bool> adjoints = key.outputs;
  const std::vector<std::size_t> zeros = zero_adjoints(call, original.inputs.size() + 1, key);
  const Derivative derived = derive(key);
  if (derived.failed) return fail(at);
  if (!derived.written)
    for (const std::size_t k : zeros) call.arguments.erase(call.arguments.begin() + static_cast<std::ptrdiff_t>(k));

  // The interface of `diff f`: outputs, then a gradient for each float input.
  const TypedNode& typed = checked_.types.nodes[at.of.index];
  std::vector<std::uint32_t> differentiable;
  for (std::uint32_t i = 0; i < original.inputs.size(); ++i)
    if (is_float(typed, typed.variable_types[i], key.float_variables)) differentiable.push_back(i);
  const std::size_t wanted = original.inputs.size() + 1 + derived.adjoints.size();
  ast::Node& node = program_.nodes[at.in.index];
  const std::optional<std::size_t> q = equation_of(node, at.call);
  const std::size_t results = original.outputs.size() + differentiable.size();
  const auto complain = [&](const std::string& what) {
    std::string interface = "diff " + of + "(";
    for (const ast::Parameter& p : original.inputs) interface += program_.text(p.name) + ", ";
    interface += "bp";
    for (std::size_t j = 0; j < adjoints.size(); ++j)
      if (adjoints[j]) interface += ", d" + program_.text(original.outputs[j].name);
    interface += ") -> (";
    for (const ast::Parameter& p : original.outputs)
      interface += (&p == original.outputs.data() ? "" : ", ") + program_.text(p.name);
    for (const std::uint32_t i : differentiable) interface += ", d" + program_.text(original.inputs[i].name);
    diagnostics_.report(Code::E0604, call.callee_span, what, "`" + interface + ")`");
    fail(at);
  };
  if (call.arguments.size() != wanted)
    return complain("`diff " + of + "` takes " + std::to_string(wanted) + " arguments, not " +
                    std::to_string(call.arguments.size()));
  if (std::ranges::any_of(call.arguments, [](const ast::Argument& a) { return a.name.valid(); }))
    return complain("arguments of `diff` go by position");
  const std::size_t targets = q ? node.equations[*q].targets.size() : 1;
  if (targets != results)
    return complain("`diff " + of + "` has " + std::to_string(results) +
                    (results == 1 ? " result, but " : " results, but ") + std::to_string(targets) +
                    (targets == 1 ? " is" : " are") + " named");

  FreshNames fresh(program_, node);
  SyntaxWriter write(program_);
  write.span = call.callee_span;
  std::vector<ast::Equation> added;
  const auto equation = [&](std::vector<ast::Target> left, ExprId right) {
    added.push_back({std::move(left), right, write.span});
  };
  // What stands more than once: a name, a constant, a tree of pure operators.
  const auto repeatable = [&](ExprId& e, const char* base) {
    if (!is_pure(e)) {
      const Symbol name = fresh(base);
      equation({write.target(name)}, e);
      e = write.name(name);
    }
    return e;
  };
  const ExprId bp = repeatable(call.arguments[original.inputs.size()].value, "bp");
  for (std::size_t k = 0; k < derived.roots.size(); ++k) {
    const auto at = call.arguments.begin() + static_cast<std::ptrdiff_t>(original.inputs.size() + k);
    if (k > 0) call.arguments.insert(at, {{}, call.callee_span, write.copy(bp)});
    if (!call.diff) continue;
    for (const ExprId rate : call.diff->optimizer_arguments)
      call.arguments.push_back({{}, call.diff->span, k == 0 ? rate : write.copy(rate)});
  }
  call.diff.reset();
  call.target = derived.node;
  if (!q) {  // inside an expression: no gradients
    program_.exprs[at.call.index] = call;
    node.equations.insert(node.equations.end(), added.begin(), added.end());
    return;
  }
  std::vector<ast::Target> left(
      node.equations[*q].targets.begin(),
      node.equations[*q].targets.begin() + static_cast<std::ptrdiff_t>(original.outputs.size()));
  std::map<std::uint32_t, ast::Target> gradients;
  for (std::size_t k = 0; k < differentiable.size(); ++k)
    gradients[differentiable[k]] = node.equations[*q].targets[original.outputs.size() + k];
  std::map<std::uint32_t, Symbol> activities;
  const auto takes = [&](std::uint32_t input) {
    const auto to = gradients.find(input);
    return to != gradients.end() && to->second.name.valid();
  };
  std::set<std::uint32_t> padded_inputs;
  // `bp` on the clock of an input: sampled by what stands here for the conditions of that clock.
  const ClockedNode& clocked = checked_.clocks.nodes[at.of.index];
  const std::function<ExprId(ClockTermId)> activity_on = [&](ClockTermId term) {
    if (!term.valid() || clocked.terms[term.index].kind != ClockTerm::on) return write.copy(bp);
    const ClockTerm t = clocked.terms[term.index];
    const auto v = static_cast<std::size_t>(t.condition.variable);
    const ExprId whole = activity_on(t.parent);
    const std::size_t inputs = original.inputs.size();
    const ExprId c =
        v < inputs ? write.copy(repeatable(call.arguments[v].value, "when")) : write.name(left[v - inputs].name);
    return write.add(ast::When{whole, t.positive, c});
  };
  const auto activity_of = [&](std::uint32_t input) { return activity_on(clocked.variable_clocks[input]); };
  for (std::size_t k = 0; k < derived.extras.size(); ++k) {
    const Derivative::Extra& extra = derived.extras[k];
    if (!derived.needed(k, takes)) {
      left.push_back(write.target({}));
    } else if (extra.kind == Derivative::Extra::activity) {
      activities[extra.input] = fresh("bp_" + program_.text(original.inputs[extra.input].name));
      left.push_back(write.target(activities[extra.input]));
    } else {
      const Symbol sampled = fresh("d" + program_.text(original.inputs[extra.input].name));
      left.push_back(write.target(sampled));
      const ExprId value = write.name(sampled);
      const auto own = activities.find(extra.active_with);
      const ExprId act = own != activities.end() ? write.name(own->second) : activity_of(extra.input);
      equation({gradients[extra.input]}, write.add(ast::Merge{act, value, write.zero()}));
      padded_inputs.insert(extra.input);
    }
  }
  for (const auto& [input, target] : gradients)
    if (target.name.valid() && !padded_inputs.contains(input))
      equation({target}, write.call("zeros_like", {write.copy(call.arguments[input].value)}));
  program_.exprs[at.call.index] = call;
  node.equations[*q].targets = std::move(left);
  node.equations.insert(node.equations.end(), added.begin(), added.end());
}

std::vector<NodeId> derived_nodes(Program& program, NodeId node, Diagnostics& diagnostics) {
  Differentiation work(program, diagnostics);
  work.check();
  const Derivative& derived = work.derive(work.outermost(node));
  if (derived.failed) return {};
  return derived.written ? std::vector{derived.node} : work.made();
}

void differentiate(Program& program, Diagnostics& diagnostics) {
  Differentiation work(program, diagnostics);
  while (work.round()) {
  }
}

}  // namespace rml
