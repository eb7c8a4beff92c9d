// Breadth-first search for a short cycle, then one note per hop. Values without a name of their
// own are skipped, so that the user reads the equations of the source.
#include "semantics/time/cycle_report.h"

#include <algorithm>
#include <deque>
#include <map>

namespace rml {

namespace {

// True if the variable of a derived node is not in the original node. Differentiation derives the
// names of its own variables from the user's: `dh`, `dh2` and `bp_h` from `h`, `h_part` for a
// part of an equation.
bool is_made_by_diff(const Core& core, ValueId v) {
  if (!is_derived(core, v) || core[v].name.empty()) return false;
  const std::size_t dot = core[v].name.rfind('.') + 1;
  const std::string path = core[v].name.substr(0, dot), name = core[v].name.substr(dot);
  if (name.starts_with("bp") || name.find("_part") != std::string::npos) return true;
  if (!name.starts_with("d")) return false;
  const std::string of = name.substr(1, name.find_last_not_of("0123456789"));
  return std::ranges::any_of(core.values, [&](const Value& other) { return other.name == path + of; });
}

}  // namespace

std::string told(const Core& core, ValueId v) {
  if (!is_made_by_diff(core, v)) return "`" + describe(core, v) + "`";
  const std::string& path = core.instances[core[v].instance.index].path;
  return path.empty() ? "the gradient" : "the gradient in `" + path + "`";
}

std::vector<Hop> find_cycle(const DependenceGraph& graph, const std::vector<ValueId>& members, ValueId start,
                            const Follows& follows) {
  std::map<ValueId, Hop> reached;
  std::deque<ValueId> work{start};
  while (!work.empty()) {
    const ValueId v = work.front();
    work.pop_front();
    for (const Dependence& e : graph.of(v)) {
      if (!std::binary_search(members.begin(), members.end(), e.on)) continue;
      if (!follows(v, e) || graph.guard_of(v, e).never) continue;
      if (!reached.try_emplace(e.on, Hop{v, e.on, e.weight}).second) continue;
      if (e.on != start) {
        work.push_back(e.on);
        continue;
      }
      std::vector<Hop> path;
      for (ValueId at = start;;) {
        path.push_back(reached.at(at));
        at = path.back().from;
        if (at == start) break;
      }
      std::reverse(path.begin(), path.end());
      return path;
    }
  }
  return {};
}

namespace {

// The branches taken along the path, such as "where `c` and not `d`".
void add_condition(const Core& core, const Hop& h, std::string& where) {
  std::string condition;
  if (h.at_start) condition = "it is the first";
  if (h.where.condition.valid()) condition = (h.where.positive ? "" : "not ") + told(core, h.where.condition);
  if (condition.empty() || where.find(condition) != std::string::npos) return;
  where += (where.empty() ? ", if " : " and ") + condition;
}

}  // namespace

void explain_cycle(const Core& core, const std::vector<Hop>& path, Diagnostic& d) {
  if (path.empty()) return;
  auto named = [&](ValueId v) { return !core[v].name.empty(); };
  // Begins at a named value, if there is one.
  std::size_t begin = 0;
  while (begin < path.size() && !named(path[begin].from)) ++begin;
  if (begin == path.size()) begin = 0;
  ValueId from = path[begin].from;
  int weight = 0;
  bool moved = false;
  std::string where;
  std::vector<std::pair<Span, std::string>> hops;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Hop& h = path[(begin + i) % path.size()];
    weight += h.weight;
    moved |= h.weight != 0;
    add_condition(core, h, where);
    if (!named(h.to) && i + 1 < path.size()) continue;
    std::string when = "the same cycle";
    if (weight != 0) {
      const int n = weight < 0 ? -weight : weight;
      when = weight < 0 ? "the previous cycle" : "the next cycle";
      if (n > 1) when = std::to_string(n) + (weight < 0 ? " cycles before" : " cycles later");
    } else if (moved) {
      when = "the same cycle (the previous and the next cancel out)";
    }
    const std::string needing = told(core, from), needed = told(core, h.to);
    std::pair hop(core[from].span, needing + " needs " +
                                       (needed == needing && !needed.starts_with('`') ? "itself" : needed) + " at " +
                                       when + where);
    if (std::ranges::find(hops, hop) == hops.end()) hops.push_back(std::move(hop));
    from = h.to;
    weight = 0;
    moved = false;
    where.clear();
  }
  // Labels mark the equations and notes give the order along the path. One equation needs no
  // notes.
  for (const auto& [at, text] : hops) {
    d.label(at, text);
    if (hops.size() > 1 || at == Span{}) d.note(text);
  }
}

void explain_instance(const Core& core, ValueId v, Diagnostic& d) {
  InstanceId i = core[v].instance;
  while (i.valid() && core.instances[i.index].parent.valid()) {
    const Instance& instance = core.instances[i.index];
    d.label(instance.call, "in the instance `" + instance.path + "`, called here");
    i = instance.parent;
  }
}

bool is_derived(const Core& core, ValueId v) {
  const InstanceId i = core[v].instance;
  return i.valid() && core.instances[i.index].derived;
}

std::string training_hint(const Core& core, const std::vector<ValueId>& component) {
  for (const Parameter& p : core.parameters) {
    if (std::ranges::find(component, p.value) == component.end()) continue;
    return "the parameter `" + p.path +
           "` is updated at a cycle whose gradient depends on later cycles, and these use the updated parameter: keep "
           "it constant for a segment, `param_end(end, param(…))`, or use the layer that does (`dense_end` for "
           "`dense`)";
  }
  for (ValueId v : component)
    if (std::holds_alternative<core::Post>(core[v].rhs) && is_derived(core, v)) return start_anew;
  return "";
}

}  // namespace rml
