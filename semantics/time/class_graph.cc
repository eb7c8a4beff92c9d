// Uses strongly connected components twice. Components of all edges are assigned to sweeps, each
// to the earliest possible one. Components of edges within an instant give the order of values in
// a sweep.
#include "semantics/time/class_graph.h"

#include <algorithm>
#include <array>

#include "semantics/core/queries.h"

namespace rml {

namespace {

constexpr std::array<std::uint8_t, 4> classes{first_instant, interior_instant, last_instant, single_instant};
constexpr std::uint8_t broken(std::size_t c) { return c == 0 ? broken_first : broken_interior; }

}  // namespace

void ClassGraph::build() {
  const std::size_t n = members_.size() * 4;
  alive_.assign(n, false);
  edges_.assign(n, {});
  sweep_.assign(n, UINT32_MAX);
  for (std::uint32_t m = 0; m < members_.size(); ++m)
    for (std::size_t c = 0; c < 4; ++c) alive_[vertex(m, c)] = facts_.possible(graph_.demand(members_[m]), classes[c]);
  for (std::uint32_t m = 0; m < members_.size(); ++m)
    for (const Dependence& e : graph_.of(members_[m])) {
      if (!position_.contains(e.on)) continue;
      const Guard guard = graph_.guard_of(members_[m], e);
      for (std::size_t c = 0; c < 4; ++c)
        if (alive_[vertex(m, c)] && facts_.possible(guard, classes[c])) add_edge(m, e, c);
    }
}

void ClassGraph::add_edge(std::uint32_t from, const Dependence& e, std::size_t c) {
  const std::uint32_t to = position_.at(e.on);
  const std::uint8_t k = classes[c];
  auto link = [&](std::size_t target) {
    if (alive_[vertex(to, target)]) edges_[vertex(from, c)].push_back({vertex(to, target), e.weight});
  };
  if (e.weight == 0) {
    link(c);
  } else if (e.weight < 0) {
    if (k == interior_instant || k == last_instant) {
      link(0);
      link(1);
    }
  } else if (const int present = cut_.by_need ? 1 : present_at_end(members_[from]);
             (k == first_instant || k == interior_instant) && present != 0) {
    link(1);
    link(2);
    if (present < 0) awaiting_.insert(members_[from]);
  } else if (cut_.by_need) {
    return;  // no needed value depends on that instant, so no edge is added
  } else if (uncut_.empty() || uncut_.back() != members_[from]) {
    uncut_.push_back(members_[from]);
  }
}

// Whether v is present at the last instant of a segment: 1, 0, or -1 if unknown. If it is present
// there, the next instant of v at all other instants belongs to the same segment.
int ClassGraph::present_at_end(ValueId v) {
  const Core& core = graph_.core();
  const std::vector<Literal> given = graph_.presence(clock_), cut = graph_.presence(core[cut_.literal.condition].clock);
  int present = 1;
  for (const Literal& l : graph_.presence(core[v].clock)) {
    if (std::ranges::find(given, l) != given.end() || std::ranges::find(cut, l) != cut.end()) continue;
    const Truth truth = facts_.truth(l.condition, last_instant);
    if (truth == truth_of(!l.positive)) return 0;
    if (!is_known(truth)) present = -1;
  }
  return present;
}

// The guards under which the post is used, one per user.
std::vector<Guard> ClassGraph::demands(ValueId post) const {
  std::vector<Guard> out;
  for (std::uint32_t v = 0; v < graph_.core().values.size(); ++v)
    for (const Dependence& e : graph_.of(ValueId{v}))
      if (e.on == post) out.push_back(graph_.guard_of(ValueId{v}, e));
  std::erase_if(out, [](const Guard& g) { return g.never; });
  return out;
}

void ClassGraph::find_components() {
  comp_ = strong_components(
      edges_.size(),
      [&](Vertex v, auto&& f) {
        for (const Edge& e : edges_[v]) f(e.to);
      },
      comps_);
  direction_.assign(comps_, none);
  comp_vertices_.assign(comps_, {});
  for (Vertex v = 0; v < edges_.size(); ++v)
    if (alive_[v]) comp_vertices_[comp_[v]].push_back(v);
}

// False if the component already has to run in the other direction.
bool ClassGraph::require(std::uint32_t component, Direction d) {
  Direction& known = direction_[component];
  if (known != none && known != d) return false;
  known = d;
  return true;
}

// Each component of the class graph must run one way: all its dependences between instants are on
// earlier instants, or all are on later ones.
bool ClassGraph::runs_one_way() {
  for (Vertex v = 0; v < edges_.size(); ++v) {
    if (!alive_[v]) continue;
    const auto& rhs = graph_.core()[members_[member_of(v)]].rhs;
    if (std::holds_alternative<core::Fby>(rhs) && !require(comp_[v], forward)) return false;
    for (const Edge& e : edges_[v]) {
      if (e.weight > 0 && !require(comp_[v], backward_only)) return false;
      if (e.weight < 0 && comp_[e.to] == comp_[v] && !require(comp_[v], forward)) return false;
    }
  }
  return true;
}

// True if the dependences within an instant are acyclic.
bool ClassGraph::has_order_within_instants() const {
  std::uint32_t found = 0;
  const auto instant = strong_components(
      edges_.size(),
      [&](Vertex v, auto&& f) {
        for (const Edge& e : edges_[v])
          if (e.weight == 0) f(e.to);
      },
      found);
  const auto needs_itself = [&](Vertex v) {
    return std::ranges::any_of(edges_[v], [&](const Edge& e) { return e.weight == 0 && e.to == v; });
  };
  std::vector<std::uint32_t> size(found);
  for (Vertex v = 0; v < edges_.size(); ++v)
    if (++size[instant[v]] > 1 || needs_itself(v)) return false;
  return true;
}

bool ClassGraph::fits(std::uint32_t comp, bool backward, std::uint32_t sweep) const {
  if (direction_[comp] == (backward ? forward : backward_only)) return false;
  for (std::uint32_t s : comp_vertices_[comp])
    for (const Edge& e : edges_[s]) {
      if (comp_[e.to] == comp) continue;
      const std::uint32_t p = sweep_[e.to];
      if (p == UINT32_MAX || (p == sweep && e.weight != 0 && (e.weight > 0) != backward)) return false;
    }
  return true;
}

// Assigns to this sweep each component that can run in it. Components come operands first, so one
// walk suffices.
bool ClassGraph::fill(bool backward, std::uint32_t sweep) {
  bool any = false;
  for (std::uint32_t c = 0; c < comps_; ++c) {
    if (comp_vertices_[c].empty() || sweep_[comp_vertices_[c][0]] != UINT32_MAX || !fits(c, backward, sweep)) continue;
    for (std::uint32_t s : comp_vertices_[c]) sweep_[s] = sweep;
    any = true;
  }
  return any;
}

// By member: the members that one step computes. A call and its results form one step; any other
// value is alone. The entry of a result is empty, since its call computes it.
std::vector<std::vector<std::uint32_t>> ClassGraph::computed_together() const {
  std::vector<std::vector<std::uint32_t>> steps(members_.size());
  for (std::uint32_t m = 0; m < members_.size(); ++m) {
    const auto* result = std::get_if<core::Result>(&graph_.core()[members_[m]].rhs);
    steps[result == nullptr ? m : position_.at(result->call)].push_back(m);
  }
  return steps;
}

// A value computed in two sweeps needs a segment array. If no use of its early classes precedes
// its last sweep, they move to that sweep. A call moves only if all its results can.
void ClassGraph::move_to_last_sweep() {
  std::vector<std::vector<std::pair<std::uint32_t, int>>> users(edges_.size());
  for (std::uint32_t s = 0; s < edges_.size(); ++s)
    for (const Edge& e : edges_[s]) users[e.to].emplace_back(s, e.weight);
  const std::vector<std::vector<std::uint32_t>> steps = computed_together();
  for (std::uint32_t m = static_cast<std::uint32_t>(members_.size()); m-- > 0;) {
    const std::vector<std::uint32_t>& step = steps[m];
    std::uint32_t latest = 0;
    for (const std::uint32_t of : step)
      for (std::size_t c = 0; c < 4; ++c)
        if (alive_[vertex(of, c)]) latest = std::max(latest, sweep_[vertex(of, c)]);
    const bool backward = latest % 2 == 1;
    const auto may_wait = [&](Vertex s) {
      if (!alive_[s]) return true;
      if (comp_vertices_[comp_[s]].size() != 1) return false;
      if (direction_[comp_[s]] == (backward ? forward : backward_only)) return false;
      return std::ranges::all_of(users[s], [&](const auto& u) {
        if (std::ranges::find(step, member_of(u.first)) != step.end()) return true;
        return sweep_[u.first] > latest || (sweep_[u.first] == latest && (u.second == 0 || (u.second > 0) == backward));
      });
    };
    for (std::size_t c = 0; c < 4; ++c)
      if (std::ranges::all_of(step, [&](std::uint32_t of) { return may_wait(vertex(of, c)); }))
        for (const std::uint32_t of : step)
          if (alive_[vertex(of, c)]) sweep_[vertex(of, c)] = latest;
  }
}

bool ClassGraph::cut_leads() const {
  auto leads = [&](ValueId v) {
    const auto at = position_.find(v);
    if (at == position_.end()) return true;
    for (std::size_t c = 0; c < 4; ++c)
      if (alive_[vertex(at->second, c)] && sweep_[vertex(at->second, c)] != 0) return false;
    return true;
  };
  if (!leads(cut_.literal.condition)) return false;
  for (const Literal& o : cut_.only)
    if (!leads(o.condition)) return false;
  for (const Literal& l : graph_.presence(graph_.core()[cut_.literal.condition].clock))
    if (!leads(l.condition)) return false;
  return true;
}

// True if the leading sweep has computed all operands of the member at a first or interior instant
// at which an assumption fails.
bool ClassGraph::is_known_in_leading(std::uint32_t member, std::size_t c) {
  const auto leads = [&](std::uint32_t m, std::size_t at) {
    return alive_[vertex(m, at)] ? sweep_[vertex(m, at)] == 0 : (beyond_[m] & classes[at]) != 0;
  };
  return std::ranges::all_of(graph_.of(members_[member]), [&](const Dependence& e) {
    const auto on = position_.find(e.on);
    if (on == position_.end() || !facts_.possible(graph_.guard_of(members_[member], e), broken(c))) return true;
    if (e.weight < 0) return c == 0 || (leads(on->second, 0) && leads(on->second, 1));
    return e.weight == 0 && leads(on->second, c);
  });
}

// An instant at which an assumption fails is the last that the run reaches, and its row is still
// written. So the leading sweep computes everything that it can at such an instant.
void ClassGraph::extend_leading() {
  beyond_.assign(members_.size(), 0);
  if (cut_.only.empty()) return;
  for (std::uint32_t m = 0; m < members_.size(); ++m)
    for (std::size_t c = 0; c < 2; ++c)
      if (!alive_[vertex(m, c)] && facts_.possible(graph_.demand(members_[m]), broken(c))) beyond_[m] |= classes[c];
  for (bool again = true; again;) {
    again = false;
    for (std::uint32_t m = 0; m < members_.size(); ++m)
      for (std::size_t c = 0; c < 2; ++c)
        if ((beyond_[m] & classes[c]) != 0 && !is_known_in_leading(m, c)) {
          beyond_[m] = static_cast<std::uint8_t>(beyond_[m] & ~classes[c]);
          again = true;
        }
  }
}

// True if, where an assumption fails, a use outside the component may read a value that the
// leading sweep computed from an operand unknown to it.
bool ClassGraph::hands_out_unknown() {
  std::vector<bool> outside(graph_.core().values.size());
  for (const ValueId v : results(graph_.core())) outside[v.index] = true;
  for (std::uint32_t v = 0; v < outside.size(); ++v)
    if (!position_.contains(ValueId{v}))
      for (const Dependence& e : graph_.of(ValueId{v})) outside[e.on.index] = true;
  std::vector<std::uint8_t> known(members_.size());
  for (std::uint32_t m = 0; m < members_.size(); ++m)
    for (std::size_t c = 0; c < 2; ++c)
      if ((alive_[vertex(m, c)] && sweep_[vertex(m, c)] == 0) || (beyond_[m] & classes[c]) != 0) known[m] |= classes[c];
  const std::vector<std::uint8_t> leading = known;
  for (bool again = true; again;) {
    again = false;
    for (std::uint32_t m = 0; m < members_.size(); ++m)
      for (std::size_t c = 0; c < 2; ++c) {
        if ((known[m] & classes[c]) == 0) continue;
        const bool sure =
            is_known_in_leading(m, c) && std::ranges::all_of(graph_.of(members_[m]), [&](const Dependence& e) {
              const auto on = position_.find(e.on);
              return e.weight != 0 || on == position_.end() || (known[on->second] & classes[c]) != 0 ||
                     !facts_.possible(graph_.guard_of(members_[m], e), broken(c));
            });
        if (sure) continue;
        known[m] = static_cast<std::uint8_t>(known[m] & ~classes[c]);
        again = true;
      }
  }
  for (std::uint32_t m = 0; m < members_.size(); ++m)
    if (outside[members_[m].index] && known[m] != leading[m]) return true;
  return false;
}

ClassGraph::SweepClasses ClassGraph::classes_in(std::uint32_t sweep) const {
  SweepClasses computed{sweep, std::vector<std::uint8_t>(members_.size())};
  for (std::uint32_t m = 0; m < members_.size(); ++m)
    for (std::size_t c = 0; c < 4; ++c)
      if (alive_[vertex(m, c)] && sweep_[vertex(m, c)] == sweep) computed.of[m] |= classes[c];
  for (std::uint32_t m = 0; sweep == 0 && m < members_.size(); ++m) computed.of[m] |= beyond_[m];
  return computed;
}

// Calls f for each member that the vertex needs at the same instant in this sweep.
template <class F>
void ClassGraph::for_each_need(Vertex v, std::uint32_t sweep, F&& f) const {
  for (const Edge& e : edges_[v])
    if (e.weight == 0 && sweep_[e.to] == sweep) f(member_of(e.to));
  if (sweep > 0 || (beyond_[member_of(v)] & classes[v % 4]) == 0) return;
  for (const Dependence& e : graph_.of(members_[member_of(v)]))
    if (const auto on = position_.find(e.on); e.weight == 0 && on != position_.end()) f(on->second);
}

// The values of a sweep in an order of computation within an instant; one order for all classes of
// instants if possible.
//
// The leading sweep knows whether an instant is the last of its segment only after computing the
// cut. So members that are computed at last instants but not at others, or vice versa, follow the
// cut.
std::vector<SweepItem> ClassGraph::order_items(std::uint32_t sweep) const {
  const SweepClasses computed = classes_in(sweep);
  std::optional<std::uint32_t> cut;  // the member that the leading sweep waits for
  if (const auto at = position_.find(cut_.literal.condition); sweep == 0 && at != position_.end()) cut = at->second;
  const auto same_at = [&](std::uint32_t m, std::uint8_t one, std::uint8_t other) {
    return ((computed.of[m] & one) != 0) == ((computed.of[m] & other) != 0);
  };
  const auto asks_for_end = [&](std::uint32_t m) {
    return !same_at(m, first_instant, single_instant) || !same_at(m, interior_instant, last_instant);
  };
  std::uint32_t found = 0;
  const std::vector<std::uint32_t> group = strong_components(
      members_.size(),
      [&](std::uint32_t m, auto&& f) {
        for (std::size_t c = 0; c < 4; ++c)
          if ((computed.of[m] & classes[c]) != 0) for_each_need(vertex(m, c), sweep, f);
        if (cut && computed.of[m] != 0 && m != *cut && asks_for_end(m)) f(*cut);
      },
      found);
  std::vector<std::vector<std::uint32_t>> groups(found);
  for (std::uint32_t m = 0; m < members_.size(); ++m)
    if (computed.of[m] != 0) groups[group[m]].push_back(m);
  std::vector<SweepItem> items;
  for (const auto& g : groups) {
    // No plan: the leading sweep waits for the cut, and the cut depends on members after it.
    if (g.size() > 1 && cut) return {};
    if (g.size() == 1) items.push_back({members_[g[0]], computed.of[g[0]]});
    if (g.size() > 1) order_by_class(g, computed, items);
  }
  return items;
}

// The members of the group have no common order for all classes: makes one item per class.
void ClassGraph::order_by_class(const std::vector<std::uint32_t>& group, const SweepClasses& computed,
                                std::vector<SweepItem>& items) const {
  std::vector<bool> in_group(members_.size());
  for (const std::uint32_t m : group) in_group[m] = true;
  for (std::size_t c = 0; c < 4; ++c) {
    const auto is_computed = [&](std::uint32_t m) { return (computed.of[m] & classes[c]) != 0; };
    std::uint32_t found = 0;
    const auto order = strong_components(
        members_.size(),
        [&](std::uint32_t m, auto&& f) {
          if (in_group[m] && is_computed(m)) for_each_need(vertex(m, c), computed.sweep, f);
        },
        found);
    std::vector<std::uint32_t> sorted = group;
    std::ranges::sort(sorted, {}, [&](std::uint32_t m) { return order[m]; });
    for (const std::uint32_t m : sorted)
      if (is_computed(m)) items.push_back({members_[m], classes[c]});
  }
}

std::optional<SegmentPlan> ClassGraph::assemble(const std::vector<bool>& backward) {
  SegmentPlan plan{cut_.literal, cut_.by_need, cut_.only, {}, {}};
  for (ValueId post : awaiting_) plan.awaiting.push_back({post, demands(post)});
  for (std::uint32_t p = 0; p < backward.size(); ++p) {
    SweepPlan sweep{backward[p], order_items(p)};
    const bool expected = std::ranges::any_of(sweep_, [&](std::uint32_t q) { return q == p; });
    if (expected && sweep.items.empty()) return std::nullopt;
    if (p == 0 || expected) plan.sweeps.push_back(std::move(sweep));
  }
  return plan;
}

std::optional<SegmentPlan> ClassGraph::plan(SegmentFailure& failure) {
  failure = {SegmentFailure::both_ways, {}, cut_.literal};
  find_components();
  if (!runs_one_way() || !has_order_within_instants()) {
    if (cut_waits()) failure.kind = SegmentFailure::cut_waits;
    return std::nullopt;
  }
  std::vector<bool> backward;
  fill(false, 0);
  backward.push_back(false);
  for (;;) {
    const bool done = std::ranges::all_of(
        comp_vertices_, [&](const auto& vertices) { return vertices.empty() || sweep_[vertices[0]] != UINT32_MAX; });
    if (done) break;
    // Sweeps alternate in direction; an empty sweep preserves the alternation.
    const bool way = backward.size() % 2 == 1;
    const bool one = fill(way, static_cast<std::uint32_t>(backward.size()));
    backward.push_back(way);
    if (!one) {
      const bool other = fill(!way, static_cast<std::uint32_t>(backward.size()));
      backward.push_back(!way);
      if (!other) return std::nullopt;
    }
  }
  failure.kind = SegmentFailure::cut_waits;
  if (!cut_leads()) return std::nullopt;
  move_to_last_sweep();
  if (!cut_leads()) return std::nullopt;
  extend_leading();
  failure.kind = SegmentFailure::both_ways;
  if (!cut_.only.empty() && hands_out_unknown()) return std::nullopt;
  return assemble(backward);
}

// True if the cut depends on a post that it should cut.
bool ClassGraph::cut_waits() const {
  const auto at = position_.find(cut_.literal.condition);
  if (at == position_.end()) return false;
  for (std::uint32_t s = 0; s < edges_.size(); ++s) {
    if (!alive_[s] || !std::holds_alternative<core::Post>(graph_.core()[members_[member_of(s)]].rhs)) continue;
    for (std::size_t c = 0; c < 4; ++c)
      if (alive_[vertex(at->second, c)] && comp_[vertex(at->second, c)] == comp_[s]) return true;
  }
  return false;
}

std::vector<Literal> ClassGraph::undecided() {
  // Makes no assumption about branches that the cut itself depends on: they determine when it
  // holds.
  std::vector<bool> decides(members_.size());
  std::vector<ValueId> work{cut_.literal.condition};
  while (!work.empty()) {
    const auto at = position_.find(work.back());
    work.pop_back();
    if (at == position_.end() || decides[at->second]) continue;
    decides[at->second] = true;
    for (const Dependence& e : graph_.of(at->first))
      if (e.weight == 0) work.push_back(e.on);
  }
  std::vector<Literal> out;
  for (std::uint32_t m = 0; m < members_.size(); ++m)
    for (const Dependence& e : graph_.of(members_[m])) {
      const auto to = position_.find(e.on);
      if (!e.guarded || to == position_.end() || decides[m]) continue;
      if (comp_[vertex(m, 1)] != comp_[vertex(to->second, 1)] ||
          is_known(facts_.truth(e.guard.condition, interior_instant)))
        continue;
      if (std::ranges::find(out, e.guard) == out.end()) out.push_back(e.guard);
    }
  return out;
}

}  // namespace rml
