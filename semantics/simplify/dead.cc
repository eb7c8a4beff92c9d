// Renumbering of values (part of simplify).
//
// A value needs its operands and the condition of its clock; conditions need their own operands
// and clocks. The new order has operands before users, so that core texts read from top to bottom
// and passes see operands first. Only operands of fby and post from another cycle may come later.
#include <algorithm>

#include "semantics/core/queries.h"
#include "semantics/simplify/passes.h"

namespace rml {

namespace {

// The condition of the clock. If it is a constant, also the next one above, which it does not
// depend on.
template <class F>
void for_each_condition(const Core& core, ValueId v, F&& f) {
  for (const ClockId clock : ancestors(core, core[v].clock)) {
    f(core[clock].condition);
    if (!core.is_const(core[clock].condition)) break;
  }
}

bool fetches_other_cycle(const core::Rhs& rhs, ValueId operand) {
  if (const auto* fby = std::get_if<core::Fby>(&rhs)) return operand == fby->next && operand != fby->init;
  return std::holds_alternative<core::Post>(rhs);
}

// The kept values, operands first.
std::vector<ValueId> ordered(const Core& core, const std::vector<bool>& keep) {
  std::vector<ValueId> order;
  std::vector<bool> met(core.values.size(), false);
  std::vector<std::pair<ValueId, bool>> stack;  // a value, and true if all its operands have been placed
  for (std::size_t first = 0; first < core.values.size(); ++first) {
    if (!keep[first]) continue;
    stack.emplace_back(ValueId{first}, false);
    while (!stack.empty()) {
      const auto [v, placed] = stack.back();
      stack.pop_back();
      if (placed) {
        order.push_back(v);
        continue;
      }
      if (met[v.index]) continue;
      met[v.index] = true;
      stack.emplace_back(v, true);
      const std::size_t begin = stack.size();
      const auto first_of_all = [&](ValueId need) {
        if (!met[need.index]) stack.emplace_back(need, false);
      };
      for_each_operand(core[v].rhs, [&](ValueId operand) {
        if (!fetches_other_cycle(core[v].rhs, operand)) first_of_all(operand);
      });
      // Conditions are of this cycle, also for fby and post.
      for_each_condition(core, v, first_of_all);
      std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(begin), stack.end());
    }
  }
  return order;
}

void renumber_ports(std::vector<Port>& ports, const std::vector<ValueId>& to) {
  std::erase_if(ports, [&](const Port& p) { return !to[p.value.index].valid(); });
  for (Port& p : ports) p.value = to[p.value.index];
}

}  // namespace

void renumber(Core& core, const std::vector<bool>& keep, std::vector<bool>* effects) {
  const std::vector<ValueId> order = ordered(core, keep);
  std::vector<ValueId> to(core.values.size());
  for (std::size_t k = 0; k < order.size(); ++k) to[order[k].index] = ValueId{k};
  std::vector<ClockId> clock_to(core.clocks.size());
  clock_to[base_clock.index] = base_clock;
  clock_to[never_clock.index] = never_clock;
  std::vector<Clock> clocks(2);
  std::vector<ClockId> chain;
  std::vector<Value> values;
  values.reserve(order.size());
  for (const ValueId v : order) {
    Value value = std::move(core[v]);
    for_each_operand(value.rhs, [&](ValueId& operand) { operand = to[operand.index]; });
    for (const ClockId c : ancestors(core, value.clock)) {
      if (clock_to[c.index].valid()) break;
      chain.push_back(c);
    }
    for (; !chain.empty(); chain.pop_back()) {
      Clock c = core[chain.back()];
      c.parent = clock_to[c.parent.index];
      c.condition = to[c.condition.index];
      clock_to[chain.back().index] = ClockId{clocks.size()};
      clocks.push_back(c);
    }
    value.clock = clock_to[value.clock.index];
    values.push_back(std::move(value));
  }
  core.values = std::move(values);
  core.clocks = std::move(clocks);
  for (auto* ports : {&core.inputs, &core.outputs, &core.watches}) renumber_ports(*ports, to);
  for (CoreAssert& check : core.asserts) check.condition = to[check.condition.index];
  std::erase_if(core.parameters, [&](const Parameter& p) { return !to[p.value.index].valid(); });
  for (Parameter& p : core.parameters) p.value = to[p.value.index];
  if (effects == nullptr) return;
  std::vector<bool> moved(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) moved[k] = (*effects)[order[k].index];
  *effects = std::move(moved);
}

ClockTable::ClockTable(Core& core) : core_(core) {
  if (core.clocks.size() < 2) core.clocks.resize(2);
  for (std::size_t c = 2; c < core.clocks.size(); ++c) {
    const Clock& clock = core.clocks[c];
    table_.try_emplace(Key{clock.parent.index, clock.condition.index, clock.positive}, ClockId{c});
  }
}

ClockId ClockTable::on(ClockId parent, ValueId condition, bool positive) {
  const auto [known, is_new] =
      table_.try_emplace(Key{parent.index, condition.index, positive}, ClockId{core_.clocks.size()});
  if (is_new) core_.clocks.push_back({parent, condition, positive});
  return known->second;
}

std::string constant_key(const Tensor& tensor) {
  constexpr std::size_t part = 256;
  std::string key = type_string(tensor.dtype(), tensor.shape()) + ":";
  const auto* at = static_cast<const char*>(tensor.data());
  const std::size_t n = tensor.bytes();
  if (n <= 2 * part) return key.append(at, n);
  return key.append(at, part).append(at + n - part, part);
}

}  // namespace rml
