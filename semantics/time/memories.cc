// Finds when memories change, and names the values that a program keeps from cycle to cycle.
// Checkpoints and messages use these names.
//
// The name is the user's if there is one: a parameter's path, the variable that is the fby, or
// the variable that the fby delays. It depends on the equations only, not on their order or their
// place in the file. Equal names are numbered.
//
//   net.w                    a parameter             before net.count    x fby count, in passing
//   queue y, presence x      between units           segment y           of a segment, y in every cycle
#include "semantics/time/memories.h"

#include "semantics/core/queries.h"

namespace rml {

namespace {

std::string in_instance(const Core& core, ValueId v, const std::string& what) {
  const InstanceId i = core[v].instance;
  const std::string path = i.valid() ? core.instances[i.index].path : "";
  return path.empty() ? what : what + " of " + path;
}

// By value: true if an output, an assertion, a failure or a parameter depends on it.
std::vector<bool> is_of_program(const Core& core) {
  std::vector<ValueId> roots = results(core);
  for (const ValueId v : failing(core)) roots.push_back(v);
  for (const Parameter& p : core.parameters) roots.push_back(p.value);
  return reachable(core, std::move(roots));
}

}  // namespace

std::string memory_name(const Core& core, ValueId v) {
  for (const Parameter& p : core.parameters)
    if (p.value == v) return p.path;
  if (is_start(core, v)) return "start of " + clock_string(core, core[v].clock);
  const auto* f = std::get_if<core::Fby>(&core[v].rhs);
  if (!core[v].name.empty()) return core[v].name;
  if (f != nullptr && !core[f->next].name.empty()) return "before " + core[f->next].name;
  return in_instance(core, v, "fby");
}

std::map<ValueId, std::string> memory_names(const Core& core) {
  std::set<std::string> paths;
  std::set<ValueId> kept;  // memories of parameters; several parameters may share one
  for (const Parameter& p : core.parameters) paths.insert(p.path), kept.insert(p.value);
  UniqueNames unique(paths);
  const std::vector<bool> of_program = is_of_program(core);
  std::map<ValueId, std::string> names;
  for (std::size_t i = 0; i < core.values.size(); ++i) {
    const auto* f = std::get_if<core::Fby>(&core.values[i].rhs);
    if (f == nullptr || !of_program[i] || (core.is_const(f->next) && core.values[i].clock == base_clock)) continue;
    std::string& name = names[ValueId{i}] = memory_name(core, ValueId{i});
    if (!kept.contains(ValueId{i})) unique.make_unique(name);
  }
  return names;
}

void UniqueNames::make_unique(std::string& name) {
  while (name.ends_with(' ')) name.pop_back();
  const std::string wanted = name;
  for (int k = count_[wanted] + 1; !taken_.insert(name).second; ++k) {
    name = wanted + " " + std::to_string(k + 1);
    count_[wanted] = k;
  }
}

bool is_kept(const Core& core, ValueId v, ValueId memory) {
  while (v != memory) {
    const auto* w = std::get_if<core::When>(&core[v].rhs);
    if (w == nullptr) return false;
    v = w->operand;
  }
  return true;
}

Change what_changes(const Core& core, ValueId memory, ValueId next) {
  Change change{{}, next};
  while (!is_kept(core, change.next, memory)) {
    const auto* m = std::get_if<core::Merge>(&core[change.next].rhs);
    if (m == nullptr || (!is_kept(core, m->on_true, memory) && !is_kept(core, m->on_false, memory))) return change;
    const bool positive = !is_kept(core, m->on_true, memory);
    change.where.push_back({m->condition, positive});
    change.next = positive ? m->on_true : m->on_false;
  }
  change.next = {};
  return change;
}

}  // namespace rml
