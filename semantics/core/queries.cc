// Each query is one walk over the values, or up from one clock. A walk over values climbs each
// clock only once, so deeply nested clocks do not make it quadratic.
#include "semantics/core/queries.h"

#include <algorithm>

namespace rml {

namespace {

// New ids for the kept items, in the old order; invalid for the others.
template <class Id>
std::vector<Id> renumbered(const std::vector<bool>& keep) {
  std::vector<Id> to(keep.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < keep.size(); ++i)
    if (keep[i]) to[i] = Id{next++};
  return to;
}

template <class T>
void keep_marked(std::vector<T>& list, const std::vector<bool>& keep) {
  std::size_t i = 0;
  std::erase_if(list, [&](const T&) { return !keep[i++]; });
}

// The clocks of kept values, and all their ancestors.
std::vector<bool> ticking(const Core& core) {
  std::vector<bool> ticks(core.clocks.size());
  ticks[base_clock.index] = ticks[never_clock.index] = true;
  for (const Value& v : core.values)
    for (const ClockId c : ancestors(core, v.clock)) {
      if (ticks[c.index]) break;
      ticks[c.index] = true;
    }
  return ticks;
}

}  // namespace

const core::Apply* apply_of(const Core& core, ValueId v) { return std::get_if<core::Apply>(&core[v].rhs); }

const core::Apply* apply_of(const Core& core, ValueId v, OperatorId op) {
  const core::Apply* a = apply_of(core, v);
  return a != nullptr && a->op == op ? a : nullptr;
}

const core::Apply* apply_of(const Core& core, ValueId v, Lowering lowering) {
  const core::Apply* a = apply_of(core, v);
  return a != nullptr && operators()[a->op].lowering == lowering ? a : nullptr;
}

const core::Apply* apply_of(const Core& core, ValueId v, std::string_view op) {
  const core::Apply* a = apply_of(core, v);
  return a != nullptr && operators()[a->op].name == op ? a : nullptr;
}

std::optional<bool> constant_truth(const Core& core, ValueId v) {
  const auto* c = std::get_if<core::Const>(&core[v].rhs);
  if (c == nullptr || c->value.dtype() != DType::boolean || !c->value.shape().empty()) return std::nullopt;
  return c->value.truth();
}

bool is_start(const Core& core, ValueId v) {
  const auto* fby = std::get_if<core::Fby>(&core[v].rhs);
  return fby != nullptr && constant_truth(core, fby->init) == true && constant_truth(core, fby->next) == false;
}

std::vector<ClockId> path_to(const Core& core, ClockId clock, ClockId from) {
  std::vector<ClockId> path;
  for (const ClockId c : ancestors(core, clock, from)) path.push_back(c);
  std::ranges::reverse(path);
  return path;
}

ClockId common_clock(const Core& core, ClockId a, ClockId b) {
  if (a == never_clock) return b;
  if (b == never_clock) return a;
  const std::vector<ClockId> path = path_to(core, a);
  for (const ClockId c : ancestors(core, b))
    if (std::ranges::find(path, c) != path.end()) return c;
  return base_clock;
}

bool within(const Core& core, ClockId clock, ClockId ancestor) {
  for (ClockId c = clock; c.valid(); c = core[c].parent)
    if (c == ancestor) return true;
  return false;
}

std::vector<bool> conditions(const Core& core) {
  std::vector<bool> found(core.values.size());
  for (const Clock& c : core.clocks)
    if (c.condition.valid()) found[c.condition.index] = true;
  return found;
}

Uses::Uses(const Core& core) : first_(core.values.size() + 1) {
  for (const Value& v : core.values) for_each_operand(v.rhs, [&](ValueId o) { ++first_[o.index + 1]; });
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  users_.resize(first_.back());
  std::vector<std::uint32_t> next = first_;
  for (std::size_t i = 0; i < core.values.size(); ++i)
    for_each_operand(core.values[i].rhs, [&](ValueId o) { users_[next[o.index]++] = ValueId{i}; });
}

std::span<const ValueId> Uses::of(ValueId v) const {
  if (v.index + 1 >= first_.size()) return {};
  return std::span(users_).subspan(first_[v.index], first_[v.index + 1] - first_[v.index]);
}

std::vector<ValueId> results(const Core& core) {
  std::vector<ValueId> found;
  for (const Port& output : core.outputs) found.push_back(output.value);
  for (const CoreAssert& check : core.asserts) found.push_back(check.condition);
  for (const ValueId parameter : moving_parameters(core)) found.push_back(parameter);
  return found;
}

bool is_repeatable(const ExternalNode& node) { return !node.in_c() && is_repeatable(node.iteration->body); }

bool is_repeatable(const Core& core) {
  return std::ranges::all_of(core.externals, [](const ExternalNode& node) { return is_repeatable(node); });
}

namespace {

// A collective call: other ranks wait for it, whether or not this rank reads its result.
bool is_meeting(const Core& core, ValueId v) {
  const auto* call = std::get_if<core::Call>(&core[v].rhs);
  return call != nullptr && core.externals[call->external].calling == Calling::joins;
}

}  // namespace

std::vector<ValueId> failing(const Core& core) {
  std::vector<ValueId> found;
  for (std::size_t i = 0; i < core.values.size(); ++i)
    if (core.values[i].clock != never_clock && (can_fail(core, ValueId{i}) || is_meeting(core, ValueId{i})))
      found.emplace_back(i);
  return found;
}

std::vector<bool> reachable(const Core& core, std::vector<ValueId> roots) {
  std::vector<bool> seen(core.values.size()), climbed(core.clocks.size());
  while (!roots.empty()) {
    const ValueId v = roots.back();
    roots.pop_back();
    if (seen[v.index]) continue;
    seen[v.index] = true;
    const auto need = [&](ValueId o) {
      if (!seen[o.index]) roots.push_back(o);
    };
    for_each_operand(core[v].rhs, need);
    for (const ClockId c : ancestors(core, core[v].clock)) {
      if (climbed[c.index]) break;
      climbed[c.index] = true;
      need(core[c].condition);
    }
  }
  return seen;
}

Core remove_unreachable(Core core) {
  std::vector<ValueId> roots = results(core);
  for (const ValueId v : failing(core)) roots.push_back(v);
  for (const Port& input : core.inputs) roots.push_back(input.value);
  const std::vector<bool> kept = reachable(core, std::move(roots));
  const auto to = renumbered<ValueId>(kept);
  keep_marked(core.values, kept);
  const std::vector<bool> ticks = ticking(core);
  const auto clock_to = renumbered<ClockId>(ticks);
  keep_marked(core.clocks, ticks);

  for (Value& v : core.values) {
    for_each_operand(v.rhs, [&](ValueId& o) { o = to[o.index]; });
    if (v.clock.valid()) v.clock = clock_to[v.clock.index];
  }
  for (Clock& c : core.clocks) {
    if (!c.parent.valid()) continue;
    c.parent = clock_to[c.parent.index];
    c.condition = to[c.condition.index];
  }
  for (auto* ports : {&core.inputs, &core.outputs, &core.watches})
    for (Port& p : *ports) p.value = to[p.value.index];
  for (CoreAssert& a : core.asserts) a.condition = to[a.condition.index];
  for (Parameter& p : core.parameters) p.value = to[p.value.index];
  std::erase_if(core.watches, [](const Port& p) { return !p.value.valid(); });
  std::erase_if(core.parameters, [](const Parameter& p) { return !p.value.valid(); });
  return core;
}

}  // namespace rml
