// Joins components with one cut by dependences in a ring between their values. The strongly connected components of the
// extended graph then include the values between them.
#include "lowering/schedule/share_windows.h"

#include <algorithm>
#include <set>

#include "semantics/core/queries.h"
#include "semantics/time/need_functions.h"
#include "semantics/time/offsets.h"

namespace rml {

namespace {

using Ring = std::vector<ValueId>;  // the first value of each component in the ring
using Rings = std::map<std::pair<Literal, ClockId>, Ring>;

// By cut and clock: the components whose segments end there.
Rings find_rings(const Components& components, const std::map<ValueId, SegmentResult>& plans) {
  Rings rings;
  for (const auto& [first, result] : plans)
    if (result.plan && result.plan->only_at_cut.empty() && result.plan->awaiting.empty())
      rings[{result.plan->cut, components.list[components.of[first.index]].clock}].push_back(first);
  return rings;
}

// The values that depend on a ring and on no other component that looks ahead, and that are on the ring's clock or
// below it.
Ring followers(const DependenceGraph& graph, const Components& components, ClockId clock, const Ring& ring) {
  const Core& core = graph.core();
  enum : std::uint8_t { apart, follows, left_out };
  std::vector<std::uint8_t> is(components.list.size(), apart);
  Ring found;
  for (std::uint32_t c = 0; c < components.list.size(); ++c) {
    const Component& here = components.list[c];
    bool reads = false, leaves = has_post(core, here) || !within(core, here.clock, clock);
    for (const ValueId v : here.values)
      for (const Dependence& e : graph.of(v)) {
        const std::uint32_t on = components.of[e.on.index];
        if (on == Components::none || on == c) continue;
        reads |= is[on] != apart;
        leaves |= is[on] == left_out;
      }
    if (std::ranges::find(ring, here.values[0]) != ring.end()) {
      is[c] = follows;
    } else if (reads) {
      is[c] = leaves ? left_out : follows;
      if (!leaves) found.push_back(here.values[0]);
    }
  }
  return found;
}

class Sharing {
 public:
  Sharing(const DependenceGraph& graph, const Components& apart, const std::map<ValueId, SegmentResult>& plans,
          Windows windows)
      : graph_(graph), apart_(apart), plans_(plans), rings_(find_rings(apart, plans)) {
    for (auto& [end, ring] : rings_) {
      cuts_.emplace(end, ring);
      if (windows != Windows::wide) continue;
      const Ring more = followers(graph, apart, end.second, ring);
      ring.insert(ring.end(), more.begin(), more.end());
    }
    std::erase_if(rings_, [](const auto& ring) { return ring.second.size() < 2; });
  }

  std::optional<SharedWindows> run() {
    while (!rings_.empty())
      if (attempt()) return std::move(shared_);
    return std::nullopt;
  }

 private:
  std::uint32_t now(ValueId v) const { return shared_.components.of[v.index]; }

  // Joins all rings. Returns false after removing the rings that cannot become one component with one cut; the others
  // may be tried again.
  bool attempt() {
    std::map<ValueId, ValueId> ties;
    for (const auto& [cut, ring] : rings_)
      for (std::size_t k = 0; k < ring.size(); ++k) ties[ring[k]] = ring[(k + 1) % ring.size()];
    shared_ = {find_components(graph_, ties), {}};
    std::set<std::uint32_t> mixed;  // joined components, one of which ends its segments elsewhere
    for (const auto& [first, result] : plans_) {
      if (ties.contains(first)) continue;  // its component was joined with others, so it is planned again
      const std::vector<ValueId>& before = apart_.list[apart_.of[first.index]].values;
      if (shared_.components.list[now(first)].values == before)
        shared_.plans.emplace(first, result);
      else
        mixed.insert(now(first));
    }
    const std::size_t tried = rings_.size();
    std::erase_if(rings_, [&](const auto& r) { return !plan(r.first, mixed); });
    return rings_.size() == tried;
  }

  bool plan(const Rings::key_type& end, std::set<std::uint32_t>& mixed) {
    const Ring& looking = cuts_.at(end);
    const std::uint32_t c = now(looking[0]);
    if (!mixed.insert(c).second) return false;  // refused, because the component is part of another ring as well
    const bool by_need = std::ranges::any_of(looking, [&](ValueId first) { return plans_.at(first).plan->by_need; });
    if (by_need && !closes(c, looking, end.first)) return false;
    auto plan = plan_under(graph_, shared_.components, c, {end.first, {}, by_need});
    if (!plan || !plan->only_at_cut.empty() || !plan->awaiting.empty()) return false;
    shared_.plans[shared_.components.list[c].values[0]].plan = std::move(plan);
    return true;
  }

  std::ptrdiff_t posts(const Components& components, std::uint32_t c) const {
    return std::ranges::count_if(components.list[c].values,
                                 [&](ValueId v) { return std::holds_alternative<core::Post>(graph_.core()[v].rhs); });
  }

  // A computed cut accounts for the posts of the components from which it was computed. Between these components there
  // may be others whose posts were read as streams while the components were separate. They may still look ahead where
  // the cut holds:
  //
  //   v = post_end(e, x, v);  w = post_end(e, x, merge k (0.5 fby v when k) 0.5);  y = if k then backfill(w, e) else w
  //
  // The components of `v` and `backfill` are read where `k` holds, and end at other instants. There `w` needs its
  // `post`.
  bool closes(std::uint32_t component, const Ring& looking, Literal cut) const {
    std::ptrdiff_t told = 0;
    for (const ValueId first : looking) told += posts(apart_, apart_.of[first.index]);
    if (posts(shared_.components, component) == told) return true;
    NeedFunctions need(graph_, shared_.components, {cut});
    if (!need.known()) return false;
    const NeedFunctions::Function open = need.open(component);
    const NeedFunctions::Function ends = need.holds(cut, shared_.components.list[component].clock);
    return need.functions().both(open, ends) == BooleanFunctions::no && need.known();
  }

  const DependenceGraph& graph_;
  const Components& apart_;
  const std::map<ValueId, SegmentResult>& plans_;
  Rings rings_;
  Rings cuts_;  // indexed by ring: the components that look ahead
  SharedWindows shared_;
};

}  // namespace

std::optional<SharedWindows> share_windows(const DependenceGraph& graph, const Components& components,
                                           const std::map<ValueId, SegmentResult>& plans, Windows windows) {
  return Sharing(graph, components, plans, windows).run();
}

}  // namespace rml
