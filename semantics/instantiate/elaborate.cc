// Elaborates instances: equations, interfaces, limits.
//
// Every variable of an instance is an alias from the start; its equation sets the target. A call
// binds the callee's inputs to its arguments and yields aliases for the callee's outputs, which
// the pending instance will set:
//
//   node f(x) -> (y) y = x + 1;      y of f   -> add %x 1
//   node g(a) -> (b) b = f(a);       x of f   -> a,  b -> y of f
#include "semantics/instantiate/elaborate.h"

#include "semantics/check/write_collectives.h"
#include "semantics/instantiate/expressions.h"

namespace rml::draft {

namespace {

// Writes the equations of one instance.
class Body {
 public:
  Body(DraftWriter& write, Scope& scope)
      : write_(write),
        draft_(write.draft),
        scope_(scope),
        expressions_(write, scope),
        node_(write.program()[scope.node]),
        variables_(write.checked.names.nodes[scope.node.index].variables),
        clocks_(write.checked.clocks.nodes[scope.node.index].variable_clocks) {}

  Expressions& expressions() { return expressions_; }
  const std::vector<Variable>& variables() const { return variables_; }
  const std::string& text(std::uint32_t v) const { return write_.program().text(variables_[v].name); }

  // Sets the target of a variable's alias to the value, with the shape that the variable's type
  // declares.
  void assign(std::uint32_t v, DraftId value) {
    const DraftId alias = scope_.variables[v];
    const DraftId checked = declared(variables_[v].type, v, value);
    std::get<Alias>(draft_[alias].rhs).target = checked;
    const std::string name = expressions_.qualified(text(v));
    for (const DraftId d : {value, checked}) {
      Value& named = draft_[d];
      if (named.name.empty() && named.instance == scope_.instance && !std::holds_alternative<Alias>(named.rhs))
        named.name = name;
    }
    draft_[alias].name = name;
  }

  // Elaborates the body. `externals` maps the NodeId of each declared external node to its index.
  void elaborate(std::unordered_map<std::uint32_t, std::uint32_t>& externals) {
    for (std::uint32_t v = 0; v < scope_.arguments.size() && v < scope_.variables.size(); ++v)
      assign(v, scope_.arguments[v]);
    if (node_.external()) return elaborate_external(externals);
    elaborate_equations();
    elaborate_asserts();
  }

 private:
  DraftId declared(const ast::TypeAnnotation* type, std::uint32_t v, DraftId value) {
    if (type == nullptr) return value;
    const Value& alias = draft_[scope_.variables[v]];
    return expressions_.declared(*type, value, alias.dtype, alias.clock, variables_[v].span);
  }

  void find_clock(std::uint32_t v) {
    const DraftClockId clock = expressions_.clock(clocks_[v]);
    draft_[scope_.variables[v]].clock = clock;
  }

  void watch(std::uint32_t v) {
    const DraftId alias = scope_.variables[v];
    draft_.watches.push_back({expressions_.qualified(text(v)), alias, draft_[alias].clock, variables_[v].span});
  }

  void elaborate_equations() {
    std::vector<std::vector<DraftId>> results;
    for (const ast::Equation& equation : node_.equations)
      results.push_back(expressions_.values(equation.value, equation.targets.size()));
    for (std::uint32_t v = 0; v < variables_.size(); ++v) {
      const Variable& variable = variables_[v];
      find_clock(v);
      if (variable.kind != Variable::input && variable.equation < results.size()) {
        // An output may have one type in the interface and another one at its definition.
        const auto& written = node_.equations[variable.equation].targets[variable.target].type;
        const ast::TypeAnnotation* second = written && &*written != variable.type ? &*written : nullptr;
        assign(v, declared(second, v, results[variable.equation][variable.target]));
      }
      watch(v);
    }
  }

  void elaborate_asserts() {
    for (const ast::Assert& assertion : node_.asserts) {
      const DraftId condition = expressions_.value(assertion.condition);
      draft_.asserts.push_back({condition, expressions_.clock_of(assertion.condition), assertion.message.value_or(""),
                                assertion.span, scope_.instance});
    }
  }

  // Writes the node as one call per instance; its interface has complete types.
  void elaborate_external(std::unordered_map<std::uint32_t, std::uint32_t>& externals) {
    const auto [known, is_new] = externals.try_emplace(scope_.node.index, draft_.externals.size());
    External declared{write_.program().text(node_.name), node_.name_span, {}, {}, {}, {}, {}};
    Call call{known->second, {}};
    std::vector<std::uint32_t> outputs;
    for (std::uint32_t v = 0; v < variables_.size(); ++v) {
      const Variable& variable = variables_[v];
      const bool is_input = variable.kind == Variable::input;
      std::vector<DraftId> shape;
      if (is_new && variable.type != nullptr) shape = expressions_.static_values(variable.type->shape);
      (is_input ? declared.inputs : declared.outputs).push_back(draft_[scope_.variables[v]].dtype);
      (is_input ? declared.input_shapes : declared.output_shapes).push_back(std::move(shape));
      if (is_input) {
        declared.input_names.push_back(text(v));
        call.operands.push_back(scope_.variables[v]);
      } else {
        outputs.push_back(v);
      }
      find_clock(v);
      watch(v);
    }
    if (is_new) draft_.externals.push_back(std::move(declared));
    if (!outputs.empty()) take_results(std::move(call), outputs);
  }

  void take_results(Call call, const std::vector<std::uint32_t>& outputs) {
    const Value first = draft_[scope_.variables[outputs[0]]];
    const DraftId called =
        expressions_.add(std::move(call), first.dtype, first.clock, draft_.instances[scope_.instance.index].call);
    for (std::uint32_t k = 0; k < outputs.size(); ++k) {
      const DraftId alias = scope_.variables[outputs[k]];
      const DraftId result =
          expressions_.add(Result{called, k}, draft_[alias].dtype, draft_[alias].clock, draft_[alias].span);
      draft_[result].name = expressions_.qualified(text(outputs[k]));
      std::get<Alias>(draft_[alias].rhs).target = result;
    }
  }

  DraftWriter& write_;
  Draft& draft_;
  Scope& scope_;
  Expressions expressions_;
  const ast::Node& node_;
  const std::vector<Variable>& variables_;
  const std::vector<ClockTermId>& clocks_;  // clock of each variable of the node, as a term
};

class Elaborator {
 public:
  Elaborator(const Entry& entry, Elaboration& whole, Diagnostics& diagnostics)
      : entry_(entry),
        whole_(whole),
        write_(entry.checked, entry.options, entry.instantiate_body, entry.depth, diagnostics) {
    if (entry.given != nullptr) write_.called_at = entry.given->at;
    write_.keep_stops = entry.options.keep_stops;
    write_.is_body = entry.given != nullptr;
    write_.draft.open = entry.options.open && entry.given == nullptr;
  }

  Draft run() {
    Scope scope = open_entry();
    {
      Body body(write_, scope);
      add_inputs(body, scope);
      add_outputs(body, scope);
      body.elaborate(externals_);
    }
    while (is_within_limits(scope) && !write_.pending.empty()) {
      scope = std::move(write_.pending.back());
      write_.pending.pop_back();
      Body(write_, scope).elaborate(externals_);
    }
    return std::move(write_.draft);
  }

 private:
  Scope open_entry() {
    const ast::Node& node = write_.program()[entry_.node];
    const Span call = entry_.given != nullptr ? entry_.given->call : node.name_span;
    const std::string path = entry_.given != nullptr ? entry_.given->at.path : "";
    write_.draft.instances.push_back(
        {{}, entry_.node, call, path, node.derived_from.valid(), as_steps_node(write_.program(), entry_.node)});
    const TypeScheme& scheme = entry_.checked.types.nodes[entry_.node.index].scheme;
    const std::size_t clock_variables = entry_.checked.clocks.nodes[entry_.node.index].variable_count;
    Scope scope =
        open_scope(write_, InstanceId{0}, entry_.node, entry_.given != nullptr ? entry_.given->dtypes : scheme.defaults,
                   std::vector<DraftClockId>(clock_variables, base));
    scope.calls = entry_.depth.calls;
    return scope;
  }

  void add_inputs(Body& body, const Scope& scope) {
    for (std::uint32_t v = 0; v < body.variables().size(); ++v) {
      const Variable& variable = body.variables()[v];
      if (variable.kind != Variable::input) continue;
      const DType dtype = write_.draft[scope.variables[v]].dtype;
      const auto* operand = entry_.given != nullptr ? &entry_.given->operands[v] : nullptr;
      if (operand != nullptr && operand->constant != nullptr) {
        body.assign(v, body.expressions().add(Const{operand->constant}, dtype, base, variable.span));
        continue;
      }
      Input input{static_cast<std::uint32_t>(write_.draft.inputs.size()), {}};
      input.is_given = operand != nullptr;
      input.is_open = write_.draft.open && variable.type == nullptr;
      if (operand != nullptr)
        input.given = operand->shape;
      else if (variable.type != nullptr)
        input.shape = body.expressions().static_values(variable.type->shape);
      const DraftClockId ck =
          body.expressions().clock(entry_.checked.clocks.nodes[entry_.node.index].variable_clocks[v]);
      const DraftId id = body.expressions().add(std::move(input), dtype, ck, variable.span);
      write_.draft[id].name = body.text(v);
      if (operand != nullptr)
        body.assign(v, id);  // the shape in its type is checked
      else
        std::get<Alias>(write_.draft[scope.variables[v]].rhs).target = id;
      write_.draft.inputs.push_back({body.text(v), id, ck, variable.span});
    }
  }

  void add_outputs(const Body& body, const Scope& scope) {
    for (std::uint32_t v = 0; v < body.variables().size(); ++v) {
      const Variable& variable = body.variables()[v];
      if (variable.kind != Variable::output) continue;
      const DraftId id = scope.variables[v];
      write_.draft.outputs.push_back({body.text(v), id, write_.draft[id].clock, variable.span});
    }
  }

  // Adds the growth of the draft to the totals. One instance adds no more than the length of its
  // source, so a check after each instance suffices.
  bool is_within_limits(const Scope& scope) {
    const Limits& limits = entry_.options.limits;
    whole_.instances += write_.draft.instances.size() - counted_instances_;
    whole_.equations += write_.draft.values.size() - counted_equations_;
    counted_instances_ = write_.draft.instances.size();
    counted_equations_ = write_.draft.values.size();
    const auto hold = [&](const char* limit, std::uint64_t count, std::uint64_t most, const char* what) {
      if (!whole_.excess && count > most) exceed(scope.instance, limit, most, what);
    };
    hold("calls", scope.calls, limits.calls, "nested calls");
    hold("loops", entry_.depth.loops, limits.loops, "nested iterations");
    hold("instances", whole_.instances, limits.instances, "instances of nodes");
    hold("equations", whole_.equations, limits.equations, "equations once its nodes are inlined");
    if (whole_.excess) write_.diagnostics.append(*whole_.excess);
    return !whole_.excess;
  }

  void exceed(InstanceId at, const std::string& limit, std::uint64_t bound, const std::string& what) {
    whole_.excess = {Code::E0702,
                     "the program has more than " + std::to_string(bound) + " " + what,
                     {write_.draft.instances[at.index].call, "the limit is exceeded here"},
                     {},
                     {},
                     {}};
    add_instance_chain(*whole_.excess, write_.draft, write_.program(), at);
    whole_.excess->note("if this is intended, raise the limit: `--limit " + limit + "=N`");
  }

  const Entry& entry_;
  Elaboration& whole_;
  DraftWriter write_;
  // Part of the draft already counted in `whole_`.
  std::size_t counted_instances_ = 0, counted_equations_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> externals_;  // indices of the declared external nodes, by NodeId
};

}  // namespace

Draft elaborate(const Entry& entry, Elaboration& whole, Diagnostics& diagnostics) {
  return Elaborator(entry, whole, diagnostics).run();
}

}  // namespace rml::draft
