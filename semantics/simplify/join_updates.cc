// Collects the groups by key, checks each, and replaces its members by a chain of additions.
#include "semantics/simplify/join_updates.h"

#include <map>
#include <set>

#include "semantics/core/joint.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

using Group = std::vector<ValueId>;

// In the order of their first members.
std::vector<Group> groups_of(const Core& core) {
  std::vector<Group> groups;
  std::map<std::uint32_t, std::size_t> place;
  for (std::uint32_t v = 0; v < core.values.size(); ++v) {
    const core::Apply* member = apply_of(core, ValueId{v});
    if (member == nullptr || !is_joint(member->op)) continue;
    const auto [at, is_new] = place.try_emplace(group_of_key(member->key), groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(ValueId{v});
  }
  return groups;
}

// The parameter whose update needs the member in the same cycle.
std::string parameter_of(const Core& core, ValueId member) {
  for (const Parameter& p : core.parameters) {
    const auto* memory = std::get_if<core::Fby>(&core[p.value].rhs);
    if (memory == nullptr || p.path.empty()) continue;
    std::set<ValueId> seen;
    std::vector<ValueId> work = {memory->next};
    while (!work.empty()) {
      const ValueId v = work.back();
      work.pop_back();
      if (v == member) return "`" + p.path + "`";
      if (std::holds_alternative<core::Fby>(core[v].rhs) || !seen.insert(v).second) continue;
      for_each_operand(core[v].rhs, [&](ValueId o) { work.push_back(o); });
    }
  }
  return "a value that is not a parameter";
}

// True if the members can be added; otherwise reports the reason.
bool fits(const Core& core, const Group& group, Diagnostics& diagnostics) {
  const Value& first = core[group[0]];
  for (const ValueId v : group) {
    const Value& other = core[v];
    const bool types = other.dtype != first.dtype || other.shape != first.shape;
    if (other.clock == first.clock && !types) continue;
    const auto is = [&](ValueId member) {
      const Value& value = core[member];
      return parameter_of(core, member) + (types ? " sums " + type_string(value.dtype, value.shape)
                                                 : " is updated on " + clock_string(core, value.clock));
    };
    diagnostics
        .report(Code::E0604, first.span, "the values that are summed over parameters differ in clock, type or shape",
                is(group[0]) + ", " + is(v))
        .note(types ? "sum scalars of one type, such as sum(g * g), or differentiate the nodes of these parameters "
                      "separately"
                    : "the parameters must be updated at the same cycles: hold them for the same segments "
                      "(`param_end`), or "
                      "differentiate their nodes separately");
    return false;
  }
  return true;
}

// The sum of the operands of the members.
ValueId sum_of(Core& core, const Group& group) {
  const auto operand = [&](ValueId member) { return std::get<core::Apply>(core[member].rhs).operands[0]; };
  ValueId sum = operand(group[0]);
  for (std::size_t k = 1; k < group.size(); ++k) {
    Value more = core[group[0]];
    more.rhs = core::Apply{operators().require("add"), {sum, operand(group[k])}, {}, 0};
    core.values.push_back(std::move(more));
    sum = ValueId{static_cast<std::uint32_t>(core.values.size() - 1)};
  }
  return sum;
}

}  // namespace

bool join_updates(Core& core, Diagnostics& diagnostics) {
  const std::vector<Group> groups = groups_of(core);
  std::map<ValueId, ValueId> sums;
  for (const Group& group : groups) {
    const bool good = fits(core, group, diagnostics);
    const ValueId sum = good ? sum_of(core, group) : ValueId{};
    for (const ValueId member : group) sums[member] = good ? sum : sum_of(core, {member});
  }
  const auto replace = [&](ValueId& v) {
    for (auto at = sums.find(v); at != sums.end(); at = sums.find(v)) v = at->second;
  };
  if (groups.empty()) return false;
  for (Value& v : core.values) for_each_operand(v.rhs, replace);
  for (Clock& c : core.clocks) replace(c.condition);
  for (std::vector<Port>* ports : {&core.outputs, &core.watches})
    for (Port& p : *ports) replace(p.value);
  for (CoreAssert& a : core.asserts) replace(a.condition);
  for (Parameter& p : core.parameters) replace(p.value);
  return true;
}

}  // namespace rml
