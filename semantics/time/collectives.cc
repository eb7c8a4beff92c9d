// Finds the inputs and outputs of instances by path among the watches.
#include "semantics/time/collectives.h"

#include <algorithm>

#include "semantics/core/queries.h"

namespace rml {

Collectives::Collectives(const Core& core) : core_(core), inside_(core.instances.size()) {
  std::set<std::string> paths;
  for (std::size_t i = 0; i < core.instances.size(); ++i) {
    const Instance& instance = core.instances[i];
    const bool outer = instance.parent.valid() && inside_[instance.parent.index];
    inside_[i] = outer || instance.steps != StepsNode::none;
    if (inside_[i]) paths.insert(instance.path);
    if (inside_[i] && !outer) list_.push_back({InstanceId{i}, {}, {}, {}});
  }
  for (const Port& watch : core.watches) {
    const std::size_t dot = watch.name.rfind('.');
    if (dot != std::string::npos && paths.contains(watch.name.substr(0, dot))) named_[watch.name] = watch.value;
  }
  for (CollectiveCall& c : list_) {
    c.end = port(c.instance, "end");
    c.count = port(c.instance, "n");
    c.sent = port(c.instance, "sent");
    const bool is_rank = core.instances[c.instance.index].steps == StepsNode::rank;
    if (const ValueId r = port(c.instance, "r"); is_rank && r.valid()) ranks_.insert(r);
    for (const char* const name : {"last", "moves"})
      if (const ValueId v = port(c.instance, name); v.valid()) step_ends_.insert(v);
  }
}

ValueId Collectives::port(InstanceId i, const std::string& name) const {
  const auto found = named_.find(core_.instances[i.index].path + "." + name);
  return found == named_.end() ? ValueId{} : found->second;
}

bool Collectives::ends_step(ValueId c) const {
  if (step_ends_.contains(c)) return true;
  if (const auto* merge = std::get_if<core::Merge>(&core_[c].rhs))
    return ends_step(merge->condition) && constant_truth(core_, merge->on_false) == false;
  return false;
}

bool Collectives::on_steps(ClockId clock) const {
  return std::ranges::any_of(ancestors(core_, clock),
                             [&](ClockId c) { return core_[c].positive && ends_step(core_[c].condition); });
}

}  // namespace rml
