// Elaboration of instances: equations, interfaces, clocks (see instantiate_elaborate.h).
//
// Every variable of an instance is an alias from the start; its equation fills in the
// target. A call binds the callee's inputs to its arguments and yields the callee's output
// aliases, which the pending instance will fill in:
//
//   node f(x) -> (y) y = x + 1;      y of f   -> add %x 1
//   node g(a) -> (b) b = f(a);       x of f   -> a,  b -> y of f
#include "semantics/instantiate_elaborate.h"

namespace rml::draft {

Elaborator::Elaborator(const Checked& checked, const InstantiateOptions& options, Elaboration& whole, Depth depth,
                       Diagnostics& diagnostics)
    : checked_(checked), options_(options), whole_(whole), depth_(depth), diagnostics_(diagnostics) {
  for (const ConstOverride& o : options.overrides) overrides_[o.constant.index] = o.value;
  draft_.clocks.resize(2);
  draft_.most_elements = options.limits.elements;
}

Draft Elaborator::run(NodeId entry) {
  elaborate_entry(entry, nullptr);
  elaborate_pending();
  return std::move(draft_);
}

Draft Elaborator::run(NodeId entry, const Given& given) {
  elaborate_entry(entry, &given);
  elaborate_pending();
  return std::move(draft_);
}

void Elaborator::elaborate_entry(NodeId entry, const Given* given) {
  const TypeScheme& scheme = checked_.types.nodes[entry.index].scheme;
  const std::size_t clock_variables = checked_.clocks.nodes[entry.index].variable_count;
  const Span call = given != nullptr ? given->call : program()[entry].name_span;
  draft_.instances.push_back({{}, entry, call, "", program()[entry].derived_from.valid()});
  scope_ = make_scope(InstanceId{0}, entry, given != nullptr ? given->dtypes : scheme.defaults,
                      std::vector<DraftClockId>(clock_variables, base));
  scope_.calls = depth_.calls;
  draft_.open = options_.open && given == nullptr;
  const ResolvedNode& node = names();
  for (std::uint32_t v = 0; v < node.variables.size(); ++v) {
    const Variable& variable = node.variables[v];
    if (variable.kind != Variable::input) continue;
    const auto* operand = given != nullptr ? &given->operands[v] : nullptr;
    if (operand != nullptr && operand->constant != nullptr) {
      assign(v, add(Const{operand->constant}, draft_[scope_.variables[v]].dtype, base, variable.span));
      continue;
    }
    Input input{static_cast<std::uint32_t>(draft_.inputs.size()), {}};
    input.is_given = operand != nullptr;
    input.is_open = draft_.open && variable.type == nullptr;
    if (operand != nullptr) input.given = operand->shape;
    if (operand == nullptr && variable.type != nullptr)
      for (ExprId extent : variable.type->shape) input.shape.push_back(static_value(extent));
    const DraftClockId ck = clock(checked_.clocks.nodes[entry.index].variable_clocks[v]);
    const DraftId id = add(std::move(input), draft_[scope_.variables[v]].dtype, ck, variable.span);
    const std::string& text = program().text(variable.name);
    draft_[id].name = text;
    if (operand != nullptr)
      assign(v, id);  // what its type declares is checked
    else
      std::get<Alias>(draft_[scope_.variables[v]].rhs).target = id;
    draft_.inputs.push_back({text, id, ck, variable.span});
  }
  for (std::uint32_t v = 0; v < node.variables.size(); ++v) {
    const Variable& variable = node.variables[v];
    if (variable.kind != Variable::output) continue;
    const DraftId id = scope_.variables[v];
    draft_.outputs.push_back({program().text(variable.name), id, draft_[id].clock, variable.span});
  }
  if (program()[entry].external()) {
    elaborate_external();
  } else {
    elaborate_body();
  }
}

void Elaborator::elaborate_pending() {
  while (within_limits() && !pending_.empty()) {
    scope_ = std::move(pending_.back());
    pending_.pop_back();
    bind_arguments();
    if (program()[scope_.node].external()) {
      elaborate_external();
    } else {
      elaborate_body();
    }
  }
}

// Counts what the body at hand has added. A body is no longer than its source, so that is soon enough.
bool Elaborator::within_limits() {
  const Limits& limits = options_.limits;
  whole_.instances += draft_.instances.size() - counted_instances_;
  whole_.equations += draft_.values.size() - counted_equations_;
  counted_instances_ = draft_.instances.size();
  counted_equations_ = draft_.values.size();
  const auto hold = [&](const char* limit, std::uint64_t count, std::uint64_t most, const char* what) {
    if (!whole_.excess && count > most) exceed(limit, most, what);
  };
  hold("calls", scope_.calls, limits.calls, "calls within one another");
  hold("loops", depth_.loops, limits.loops, "iterations within one another");
  hold("instances", whole_.instances, limits.instances, "instances of nodes");
  hold("equations", whole_.equations, limits.equations, "equations once its nodes are inlined");
  if (whole_.excess) diagnostics_.append(*whole_.excess);
  return !whole_.excess;
}

void Elaborator::exceed(const std::string& limit, std::uint64_t bound, const std::string& what) {
  const Instance& at = draft_.instances[scope_.instance.index];
  whole_.excess = {Code::E0702,
                   "the program has more than " + std::to_string(bound) + " " + what,
                   {at.call, "here there are too many"},
                   {},
                   {},
                   {}};
  add_instance_chain(*whole_.excess, draft_, program(), scope_.instance);
  whole_.excess->note("where so many are meant, `--limit " + limit + "=N` lets more of them in");
}

// Aliases for the node's variables. Clocks of variables may name variables, so they are
// filled in once all exist.
Elaborator::Scope Elaborator::make_scope(InstanceId instance, NodeId node, std::vector<DType> dtypes,
                                         std::vector<DraftClockId> clocks) {
  Scope scope;
  scope.instance = instance;
  scope.node = node;
  scope.dtypes = std::move(dtypes);
  scope.clocks = std::move(clocks);
  std::swap(scope, scope_);
  const ResolvedNode& resolved = names();
  const ClockedNode& clocked = checked_.clocks.nodes[node.index];
  const TypedNode& typed = checked_.types.nodes[node.index];
  for (std::size_t v = 0; v < resolved.variables.size(); ++v)
    scope_.variables.push_back(add(Alias{}, dtype(typed.variable_types[v]), base, resolved.variables[v].span));
  for (std::size_t v = 0; v < resolved.variables.size(); ++v) {
    // A clock that samples by an expression is reached only from inside the node.
    const DraftId id = scope_.variables[v];
    if (resolved.variables[v].kind != Variable::local) draft_[id].clock = clock(clocked.variable_clocks[v]);
  }
  std::swap(scope, scope_);
  return scope;
}

void Elaborator::bind_arguments() {
  for (std::uint32_t v = 0; v < scope_.arguments.size() && v < scope_.variables.size(); ++v)
    assign(v, scope_.arguments[v]);
}

void Elaborator::elaborate_body() {
  const ast::Node& node = program()[scope_.node];
  const ResolvedNode& resolved = names();
  std::vector<std::vector<DraftId>> results(node.equations.size());
  for (std::size_t i = 0; i < node.equations.size(); ++i) {
    const ast::Equation& equation = node.equations[i];
    results[i] = values(equation.value, equation.targets.size());
  }
  const ClockedNode& clocked = checked_.clocks.nodes[scope_.node.index];
  for (std::uint32_t v = 0; v < resolved.variables.size(); ++v) {
    const Variable& variable = resolved.variables[v];
    const DraftId id = scope_.variables[v];
    draft_[id].clock = clock(clocked.variable_clocks[v]);
    if (variable.kind != Variable::input && variable.equation < results.size()) {
      const auto& written = node.equations[variable.equation].targets[variable.target].type;
      const ast::TypeAnnotation* second = written && &*written != variable.type ? &*written : nullptr;
      assign(v, declared(second, v, results[variable.equation][variable.target]));
    }
    draft_.watches.push_back({qualified(program().text(variable.name)), id, draft_[id].clock, variable.span});
  }
  add_asserts(node);
}

void Elaborator::add_asserts(const ast::Node& node) {
  for (const ast::Assert& assertion : node.asserts) {
    const DraftId condition = value(assertion.condition);
    draft_.asserts.push_back(
        {condition, clock_of(assertion.condition), assertion.message.value_or(""), assertion.span});
  }
}

// variable = value, with the shape that its type declares.
void Elaborator::assign(std::uint32_t v, DraftId target) {
  const Variable& variable = names().variables[v];
  const DraftId alias = scope_.variables[v];
  const std::string& text = program().text(variable.name);
  const DraftId checked = declared(variable.type, v, target);
  std::get<Alias>(draft_[alias].rhs).target = checked;
  for (const DraftId d : {target, checked}) {
    Value& named = draft_[d];
    if (named.name.empty() && named.instance == scope_.instance && !std::holds_alternative<Alias>(named.rhs))
      named.name = qualified(text);
  }
  draft_[alias].name = qualified(text);
}

DraftId Elaborator::declared(const ast::TypeAnnotation* type, std::uint32_t v, DraftId target) {
  if (type == nullptr) return target;
  Declared declared{target, {}, type->span};
  for (ExprId extent : type->shape) declared.shape.push_back(static_value(extent));
  const DraftId alias = scope_.variables[v];
  return add(std::move(declared), draft_[alias].dtype, draft_[alias].clock, names().variables[v].span);
}

// The node as one call per instance; its interface is fully typed.
void Elaborator::elaborate_external() {
  const NodeId id = scope_.node;
  const ResolvedNode& resolved = names();
  const ClockedNode& clocked = checked_.clocks.nodes[id.index];
  const auto [known, is_new] = externals_.try_emplace(id.index, draft_.externals.size());
  External declared{program().text(program()[id].name), program()[id].name_span, {}, {}, {}, {}, {}};
  Call call{known->second, {}};
  std::vector<std::uint32_t> outputs;
  for (std::uint32_t v = 0; v < resolved.variables.size(); ++v) {
    const Variable& variable = resolved.variables[v];
    const bool is_input = variable.kind == Variable::input;
    const DraftId alias = scope_.variables[v];
    std::vector<DraftId> shape;
    if (is_new && variable.type != nullptr)
      for (ExprId extent : variable.type->shape) shape.push_back(static_value(extent));
    (is_input ? declared.inputs : declared.outputs).push_back(draft_[alias].dtype);
    (is_input ? declared.input_shapes : declared.output_shapes).push_back(std::move(shape));
    if (is_input) {
      declared.input_names.push_back(program().text(variable.name));
      call.operands.push_back(alias);
    } else {
      outputs.push_back(v);
    }
    draft_[alias].clock = clock(clocked.variable_clocks[v]);
    draft_.watches.push_back({qualified(program().text(variable.name)), alias, draft_[alias].clock, variable.span});
  }
  if (is_new) draft_.externals.push_back(std::move(declared));
  if (outputs.empty()) return;
  const Value first = draft_[scope_.variables[outputs[0]]];
  const DraftId called = add(std::move(call), first.dtype, first.clock, draft_.instances[scope_.instance.index].call);
  for (std::uint32_t k = 0; k < outputs.size(); ++k) {
    const DraftId alias = scope_.variables[outputs[k]];
    const DraftId result = add(Result{called, k}, draft_[alias].dtype, draft_[alias].clock, draft_[alias].span);
    draft_[result].name = qualified(program().text(resolved.variables[outputs[k]].name));
    std::get<Alias>(draft_[alias].rhs).target = result;
  }
}

std::vector<DraftId> Elaborator::instantiate_node(ExprId e, const ast::Call& call, NodeId node) {
  const InstanceId instance{draft_.instances.size()};
  draft_.instances.push_back(
      {scope_.instance, node, call.callee_span, qualified(identity(e)), program()[node].derived_from.valid()});
  std::vector<DraftId> arguments;
  for (ExprId argument : checked_.names.arguments[e.index])
    arguments.push_back(argument.valid() ? value(argument) : missing(e));
  std::vector<DType> dtypes;
  for (TypeTerm term : checked_.types.instantiations[e.index]) dtypes.push_back(dtype(term));
  std::vector<DraftClockId> clocks;
  for (ClockTermId term : checked_.clocks.instantiations[e.index]) clocks.push_back(clock(term));
  Scope callee = make_scope(instance, node, std::move(dtypes), std::move(clocks));
  callee.arguments = std::move(arguments);
  callee.calls = scope_.calls + 1;
  std::vector<DraftId> results;
  const ResolvedNode& resolved = checked_.names.nodes[node.index];
  for (std::size_t v = 0; v < resolved.variables.size(); ++v)
    if (resolved.variables[v].kind == Variable::output) results.push_back(callee.variables[v]);
  pending_.push_back(std::move(callee));
  return results;
}

// One value for the whole iteration, and its results.
std::vector<DraftId> Elaborator::iterate_node(ExprId e, const ast::Call& call, NodeId node) {
  Iterate iterate;
  for (ExprId argument : checked_.names.arguments[e.index])
    iterate.operands.push_back(argument.valid() ? value(argument) : missing(e));
  std::vector<DType> dtypes;
  for (TypeTerm term : checked_.types.instantiations[e.index]) dtypes.push_back(dtype(term));
  const auto& clocks = checked_.clocks.instantiations[e.index];
  const DraftClockId at = clocks.empty() ? base : clock(clocks[0]);
  const TypedNode& typed = checked_.types.nodes[node.index];
  const ast::Node& item = program()[node];
  std::vector<DType> types;
  for (std::size_t k = 0; k < item.outputs.size(); ++k) {
    const TypeTerm t = typed.variable_types[item.inputs.size() + k];
    types.push_back(t.variable < 0 ? t.dtype : dtypes[static_cast<std::size_t>(t.variable)]);
  }
  iterate.of = std::make_shared<Iterator>(checked_, options_, whole_, Depth{scope_.calls + 1, depth_.loops + 1}, node,
                                          *call.iteration, call.callee_span, std::move(dtypes));
  const DraftId called = add(std::move(iterate), types[0], at, program().span(e));
  std::vector<DraftId> results;
  for (std::uint32_t k = 0; k < types.size(); ++k)
    results.push_back(add(Result{called, k}, types[k], at, program().span(e)));
  return results;
}

const std::string& Elaborator::identity(ExprId e) {
  const auto [known, is_new] = identities_.try_emplace(scope_.node.index);
  if (is_new) known->second = call_identities(program(), checked_.names, scope_.node);
  return known->second.at(e.index);
}

std::string Elaborator::qualified(const std::string& name) const {
  if (!scope_.instance.valid()) return name;
  const std::string& path = draft_.instances[scope_.instance.index].path;
  return path.empty() ? name : path + "." + name;
}

// The clock a term of the node at hand stands for in this instance.
DraftClockId Elaborator::clock(ClockTermId term) {
  if (!term.valid() || !scope_.node.valid()) return scope_.constant_clock;
  if (const auto met = scope_.terms.find(term.index); met != scope_.terms.end()) return met->second;
  const ClockTerm& t = checked_.clocks.nodes[scope_.node.index].terms[term.index];
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
      result = on(parent, condition, t.positive);
      break;
    }
  }
  scope_.terms[term.index] = result;
  return result;
}

DraftClockId Elaborator::clock_of(ExprId e) {
  const auto& clocks = checked_.clocks.expr_clocks;
  return e.index < clocks.size() ? clock(clocks[e.index]) : scope_.constant_clock;
}

DraftClockId Elaborator::on(DraftClockId parent, DraftId condition, bool positive) {
  const auto [known, is_new] =
      clocks_.try_emplace(ClockKey{parent.index, condition.index, positive}, draft_.clocks.size());
  if (is_new) draft_.clocks.push_back({parent, condition, positive});
  return known->second;
}

DType Elaborator::dtype(TypeTerm term) const {
  if (term.variable < 0) return term.dtype;
  const auto v = static_cast<std::size_t>(term.variable);
  return v < scope_.dtypes.size() ? scope_.dtypes[v] : term.dtype;
}

DType Elaborator::dtype_of(ExprId e) const {
  const auto& types = checked_.types.expr_types;
  return e.index < types.size() && !scope_.untyped ? dtype(types[e.index]) : scope_.untyped_dtype;
}

DraftId Elaborator::add(Rhs rhs, DType dtype, DraftClockId clock, Span span) {
  draft_.values.push_back({std::move(rhs), dtype, clock, span, scope_.instance, {}, static_in_ == scope_.instance});
  return DraftId{draft_.values.size() - 1};
}

Diagnostic& Elaborator::report(Code code, Span span, std::string message, std::string label) {
  Diagnostic& d = diagnostics_.report(code, span, std::move(message), std::move(label));
  add_instance_chain(d, draft_, program(), scope_.instance);
  return d;
}

// The innermost calls first; a chain of more than eight is cut in the middle.
void add_instance_chain(Diagnostic& d, const Draft& draft, const Program& program, InstanceId instance) {
  std::vector<InstanceId> chain;
  for (InstanceId i = instance; i.valid() && draft.instances[i.index].parent.valid();
       i = draft.instances[i.index].parent)
    chain.push_back(i);
  constexpr std::size_t shown_per_end = 4;
  for (std::size_t k = 0; k < chain.size(); ++k) {
    if (chain.size() > 2 * shown_per_end && k == shown_per_end) {
      d.note("… and " + std::to_string(chain.size() - 2 * shown_per_end) + " instances more");
      k = chain.size() - shown_per_end;
    }
    const Instance& i = draft.instances[chain[k].index];
    d.label(i.call, "in the instance `" + i.path + "` of `" + program.text(program[i.node].name) + "`, called here");
  }
}

}  // namespace rml::draft
