// Longest paths by Bellman-Ford with a queue. The last edges that raised each offset form a forest,
// or contain a cycle, which is then a positive one. The search for such a cycle runs once in as many
// raises as there are values, so it costs no more than the raises themselves.
#include "semantics/time/offsets.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

namespace rml {

bool has_post(const Core& core, const Component& c) {
  return std::ranges::any_of(c.values, [&](ValueId v) { return std::holds_alternative<core::Post>(core[v].rhs); });
}

bool stays_delay(const Core& core, const Component& c, ValueId user, const Dependence& e) {
  return e.weight < 0 && core[user].clock != c.clock;
}

namespace {

// True if the post is needed only under more conditions than those of its clock.
bool guarded(const DependenceGraph& graph, ValueId post) {
  Guard present;
  for (const Literal& l : graph.presence(graph.core()[post].clock)) graph.add(present, l);
  return graph.demand(post).literals.size() > present.literals.size();
}

// The number of instants of `clock` that a value outside the component looks ahead. Its users
// should run as many steps later, so that no value waits. Returns 0 for cycles, which have their
// own offsets or segments.
int lookahead(const Core& core, const Components& components, ValueId v, ClockId clock) {
  const std::uint32_t own = components.of[v.index];
  if (own == Components::none || components.list[own].cyclic) return 0;
  if (const auto* p = std::get_if<core::Post>(&core[v].rhs); p != nullptr && core[v].clock == clock)
    return 1 + lookahead(core, components, p->operand, clock);
  if (const auto* w = std::get_if<core::When>(&core[v].rhs))
    return std::max(lookahead(core, components, w->operand, clock), lookahead(core, components, w->condition, clock));
  return 0;
}

// A member that needs another one, by its position.
struct User {
  std::uint32_t by;
  int weight;
  bool delayed;  // true if the delay stays in the program, so that the edge gets no weight for it
};

// By position: the members that need the member, and the look-ahead of its operands outside the
// component.
struct Needs {
  std::vector<std::vector<User>> users;
  std::vector<int> lookahead;
};

// Returns nothing if the next instant of a post may be arbitrarily late.
std::optional<Needs> find_needs(const DependenceGraph& graph, const Components& components, const Component& c,
                                bool with_guarded) {
  const Core& core = graph.core();
  std::map<ValueId, std::uint32_t> position;
  for (std::size_t i = 0; i < c.values.size(); ++i) position[c.values[i]] = static_cast<std::uint32_t>(i);
  Needs needs{std::vector<std::vector<User>>(c.values.size()), std::vector<int>(c.values.size(), 0)};
  for (std::uint32_t m = 0; m < c.values.size(); ++m) {
    const ValueId v = c.values[m];
    for (const Dependence& e : graph.of(v)) {
      const auto at = position.find(e.on);
      if (at == position.end() && e.weight == 0)
        needs.lookahead[m] = std::max(needs.lookahead[m], lookahead(core, components, e.on, c.clock));
      if (at == position.end() || graph.guard_of(v, e).never) continue;
      if (e.weight > 0 && !with_guarded && guarded(graph, v)) continue;
      if (e.weight > 0 && core[v].clock != c.clock) return std::nullopt;
      const bool stays = stays_delay(core, c, v, e);
      needs.users[at->second].push_back({m, stays ? 0 : e.weight, stays});
    }
  }
  return needs;
}

constexpr std::uint32_t none = UINT32_MAX;

// True if the path from some element to its predecessors, `none` at an end, returns to the element.
bool has_cycle(const std::vector<std::uint32_t>& predecessors) {
  std::vector<std::uint32_t> path_of(predecessors.size(), none);  // by element: the start of the path that met it
  for (std::uint32_t start = 0; start < predecessors.size(); ++start) {
    std::uint32_t at = start;
    for (; at != none && path_of[at] == none; at = predecessors[at]) path_of[at] = start;
    if (at != none && path_of[at] == start) return true;
  }
  return false;
}

// Raises the offsets until all edges are satisfied. False if they would rise without bound.
bool relax(const std::vector<std::vector<User>>& users, std::vector<int>& offsets) {
  const auto count = static_cast<std::uint32_t>(users.size());
  std::deque<std::uint32_t> work;
  std::uint32_t raises = 0;
  std::vector<std::uint32_t> raised_by(count, none);
  std::vector<bool> queued(count, true);
  for (std::uint32_t m = 0; m < count; ++m) work.push_back(m);
  while (!work.empty()) {
    const std::uint32_t u = work.front();
    work.pop_front();
    queued[u] = false;
    for (const User& e : users[u]) {
      const int enough = offsets[u] + e.weight;
      if (enough <= offsets[e.by]) continue;
      offsets[e.by] = enough;
      raised_by[e.by] = u;
      if (++raises % count == 0 && has_cycle(raised_by)) return false;
      if (!queued[e.by]) work.push_back(e.by);
      queued[e.by] = true;
    }
  }
  return true;
}

// A cycle of edges without slack: members that need each other in the same step. Empty if there
// is none.
std::vector<ValueId> find_zero_cycle(const Component& c, const std::vector<std::vector<User>>& users,
                                     const std::vector<int>& offsets) {
  std::uint32_t found = 0;
  const auto tight = strong_components(
      c.values.size(),
      [&](std::uint32_t u, auto&& f) {
        for (const User& e : users[u])
          if (!e.delayed && offsets[e.by] == offsets[u] + e.weight) f(e.by);
      },
      found);
  std::vector<std::vector<ValueId>> groups(found);
  for (std::uint32_t m = 0; m < c.values.size(); ++m) groups[tight[m]].push_back(c.values[m]);
  const auto cycle = std::ranges::find_if(groups, [](const auto& g) { return g.size() > 1; });
  return cycle == groups.end() ? std::vector<ValueId>() : std::move(*cycle);
}

Offsets find(const DependenceGraph& graph, const Components& components, std::uint32_t component, bool with_guarded) {
  const Component& c = components.list[component];
  Offsets out;
  out.by_member.assign(c.values.size(), 0);
  if (!c.cyclic || !has_post(graph.core(), c)) return out;
  std::optional<Needs> needs = find_needs(graph, components, c, with_guarded);
  if (!needs) {
    out.kind = Offsets::sub_clock;
    return out;
  }
  out.by_member = std::move(needs->lookahead);
  if (!relax(needs->users, out.by_member)) {
    out.kind = Offsets::positive_cycle;
    return out;
  }
  out.cycle = find_zero_cycle(c, needs->users, out.by_member);
  if (!out.cycle.empty()) out.kind = Offsets::zero_cycle;
  return out;
}

}  // namespace

Offsets find_offsets(const DependenceGraph& graph, const Components& components, std::uint32_t component) {
  return find(graph, components, component, true);
}

Offsets find_offsets_without_guarded_posts(const DependenceGraph& graph, const Components& components,
                                           std::uint32_t component) {
  return find(graph, components, component, false);
}

}  // namespace rml
