// Builds the equations, their bodies, the roots, and the messages for the end of a run.
#include <algorithm>
#include <map>

#include "lowering/demand/on_demand.h"
#include "semantics/core/queries.h"
#include "semantics/time/memories.h"

namespace rml {

namespace {

constexpr std::uint32_t none = UINT32_MAX;

bool is_parameter(const Core& core, ValueId v) { return apply_of(core, v, Lowering::parameter) != nullptr; }

class Builder {
 public:
  explicit Builder(std::shared_ptr<const Core> core) : core_(*core), uses_(core_) {
    program_.core = std::move(core);
    const std::size_t n = core_.values.size();
    program_.inlined.assign(n, false);
    program_.value_sites.assign(n, none);
    demand_.body_of.assign(n, none);
    demand_.cut_of.assign(n, none);
    demand_.knot_site.assign(n, none);
    demand_.cut_of_clock.assign(core_.clocks.size(), none);
  }

  steps::Program run() {
    find_asked();
    for (std::size_t i = 0; i < core_.values.size(); ++i)
      if (demand_.asked[i]) equation(ValueId{i});
    add_cuts();
    for (const CoreAssert& check : core_.asserts) demand_.assert_sites.push_back(site(check.span, check.message));
    add_parameters();
    add_origins();
    program_.on_demand = std::make_shared<const steps::OnDemand>(std::move(demand_));
    return std::move(program_);
  }

 private:
  // ---- which values have equations of their own ----

  // Needed values have equations of their own. But a value becomes part of the equation of its
  // user if no other value needs it and the user always needs all of its operands.
  void find_asked() {
    std::vector<ValueId> roots = results(core_);
    for (const ValueId v : failing(core_)) roots.push_back(v);
    for (const Port& input : core_.inputs) roots.push_back(input.value);
    demand_.asked = reachable(core_, roots);
    part_.assign(core_.values.size(), false);
    std::vector<bool> seen_alone = conditions(core_);
    for (const ValueId root : roots) seen_alone[root.index] = true;
    // Depth of each value among the values computed in one body.
    std::vector<std::uint32_t> depth(core_.values.size(), 0);
    constexpr std::uint32_t deepest = 200;
    for (std::size_t i = 0; i < core_.values.size(); ++i) {
      for_each_operand(core_.values[i].rhs, [&](ValueId o) {
        if (part_[o.index]) depth[i] = std::max(depth[i], depth[o.index] + 1);
      });
      if (!seen_alone[i] && depth[i] < deepest && only_computes(core_, ValueId{i})) part_[i] = part_of_one(ValueId{i});
    }
  }

  // True if the only use of the value comes later in the order; within a zero-delay cycle no use does.
  bool part_of_one(ValueId v) const {
    std::size_t users = 0;
    for (const ValueId u : uses_.of(v)) {
      if (!demand_.asked[u.index]) continue;
      if (++users > 1 || u.index <= v.index || apply_of(core_, u) == nullptr || is_parameter(core_, u)) return false;
    }
    return users == 1;
  }

  bool is_call_with_effect(ValueId v) const {
    const auto* call = std::get_if<core::Call>(&core_[v].rhs);
    return call != nullptr && core_.externals[call->external].in_c();
  }

  // ---- equations ----

  void equation(ValueId v) {
    const core::Rhs& rhs = core_[v].rhs;
    const bool computes = std::holds_alternative<core::Apply>(rhs) || std::holds_alternative<core::Call>(rhs);
    if (part_[v.index]) {
      demand_.asked[v.index] = false;
    } else if (computes && !is_parameter(core_, v)) {
      demand_.body_of[v.index] = static_cast<std::uint32_t>(demand_.bodies.size());
      demand_.bodies.push_back(body(v));
    } else if (std::holds_alternative<core::Fby>(rhs)) {
      demand_.memories.push_back(v);
    }
    if (std::holds_alternative<core::Merge>(rhs) || std::holds_alternative<core::Post>(rhs))
      demand_.knot_site[v.index] = site(core_[v].span, describe(core_, v));
  }

  steps::DemandBody body(ValueId v);
  ValueId copy(Core& into, ValueId v, std::map<ValueId, ValueId>& copies, steps::DemandBody& body);
  ValueId copy_equation(Core& into, ValueId v, std::map<ValueId, ValueId>& copies, steps::DemandBody& body);
  static ValueId add(Core& into, Value value);

  // ---- messages ----

  std::uint32_t site(Span span, std::string message) {
    program_.sites.push_back({span, std::move(message)});
    return static_cast<std::uint32_t>(program_.sites.size() - 1);
  }

  // The message about a cut. If a negation `not c` should be false, it says that c should be true.
  std::uint32_t cut(ValueId condition, bool positive) {
    while (const auto* negation = apply_of(core_, condition, "logical_not"))
      condition = negation->operands[0], positive = !positive;
    if (core_.is_const(condition)) return none;
    const auto [known, fresh] =
        cuts_.try_emplace({condition, positive}, static_cast<std::uint32_t>(program_.cuts.size()));
    if (fresh) program_.cuts.push_back({(positive ? "" : "not ") + describe(core_, condition), core_[condition].span});
    return known->second;
  }

  void add_cuts() {
    for (std::size_t i = 0; i < core_.values.size(); ++i)
      if (const auto* when = std::get_if<core::When>(&core_.values[i].rhs); when != nullptr && demand_.asked[i])
        demand_.cut_of[i] = cut(when->condition, !when->positive);
    for (std::size_t c = 2; c < core_.clocks.size(); ++c)
      demand_.cut_of_clock[c] = cut(core_.clocks[c].condition, core_.clocks[c].positive);
  }

  void add_parameters() {
    for (const Parameter& p : core_.parameters) {
      const Value& v = core_[p.value];
      const std::size_t before = program_.parameters.size();
      for (std::size_t i = 0; i < core_.values.size(); ++i) {
        const auto* a = apply_of(core_, ValueId{i}, Lowering::parameter);
        if (a == nullptr || !demand_.asked[i] || a->key != path_key(p.path)) continue;
        program_.parameters.push_back({p.path, v.dtype, v.shape, ValueId{i}, {}});
      }
      if (program_.parameters.size() == before) program_.parameters.push_back({p.path, v.dtype, v.shape, {}, {}});
    }
  }

  void add_origins();

  const Core& core_;
  const Uses uses_;
  std::vector<bool> part_;  // one per ValueId: true if the value is computed in the body of its user
  steps::Program program_;
  steps::OnDemand demand_;
  std::map<std::pair<ValueId, bool>, std::uint32_t> cuts_;
};

// Lists the parts of the state by the names under which saved states have them.
void Builder::add_origins() {
  const std::map<ValueId, std::string> memories = memory_names(core_);
  std::set<std::string> taken;
  for (const auto& [v, name] : memories) taken.insert(name);
  UniqueNames names(taken);
  const auto add = [&](ValueId v, std::string name) {
    names.make_unique(name);
    demand_.origins.push_back({v, std::move(name), false});
  };
  for (const ValueId v : demand_.memories)
    if (const auto name = memories.find(v); name != memories.end()) demand_.origins.push_back({v, name->second, true});
  for (const Port& input : core_.inputs) add(input.value, "input " + input.name);
  for (const steps::ParameterInfo& p : program_.parameters)
    if (p.site.valid()) add(p.site, "first " + p.path);
  for (const steps::DemandBody& body : demand_.bodies) {
    if (!body.effect) continue;
    add(body.value, "call of " + core_.externals[std::get<core::Call>(core_[body.value].rhs).external].symbol);
    for (const ValueId v : body.results) add(v, "result " + core_[v].name);
  }
}

ValueId Builder::add(Core& into, Value value) {
  if (!std::holds_alternative<core::Const>(value.rhs)) value.clock = base_clock;
  value.instance = InstanceId{0};
  into.values.push_back(std::move(value));
  return ValueId{into.values.size() - 1};
}

// In a body v is an input, a constant, or an equation whose operands are copied as well.
ValueId Builder::copy(Core& into, ValueId v, std::map<ValueId, ValueId>& copies, steps::DemandBody& body) {
  if (const auto known = copies.find(v); known != copies.end()) return known->second;
  if (core_.is_const(v) || part_[v.index]) return copies[v] = copy_equation(into, v, copies, body);
  Value value = core_[v];
  value.rhs = core::Input{static_cast<std::uint32_t>(into.inputs.size())};
  value.name = "in" + std::to_string(into.inputs.size());
  body.operands.push_back(v);
  const ValueId input = add(into, value);
  into.inputs.push_back({value.name, input, value.span});
  return copies[v] = input;
}

ValueId Builder::copy_equation(Core& into, ValueId v, std::map<ValueId, ValueId>& copies, steps::DemandBody& body) {
  Value value = core_[v];
  for_each_operand(value.rhs, [&](ValueId& o) { o = copy(into, o, copies, body); });
  if (auto* call = std::get_if<core::Call>(&value.rhs)) call->external = 0;
  return add(into, std::move(value));
}

steps::DemandBody Builder::body(ValueId v) {
  steps::DemandBody body;
  body.value = v;
  Core inner;
  inner.entry = "equation" + std::to_string(v.index);
  inner.clocks.resize(2);
  inner.instances.push_back(core_.instances.at(0));
  const auto* call = std::get_if<core::Call>(&core_[v].rhs);
  if (call != nullptr) inner.externals.push_back(core_.externals[call->external]);
  std::map<ValueId, ValueId> copies;
  const ValueId own = copy_equation(inner, v, copies, body);
  body.results.clear();
  const auto hand_out = [&](ValueId result, ValueId here) {
    inner.outputs.push_back({"out" + std::to_string(body.results.size()), here, core_[v].span});
    body.results.push_back(result);
  };
  if (call == nullptr) hand_out(v, own);
  for (const ValueId u : uses_.of(v)) {
    const auto* result = std::get_if<core::Result>(&core_[u].rhs);
    if (result == nullptr || !demand_.asked[u.index]) continue;
    Value value = core_[u];
    value.rhs = core::Result{own, result->output};
    hand_out(u, add(inner, std::move(value)));
  }
  body.effect = is_call_with_effect(v);
  body.core = std::make_shared<const Core>(std::move(inner));
  return body;
}

}  // namespace

steps::Program build_on_demand(std::shared_ptr<const Core> core) { return Builder(std::move(core)).run(); }

}  // namespace rml
