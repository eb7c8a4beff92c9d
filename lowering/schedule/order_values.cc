// Orders the values of a forward unit by Kahn's algorithm, operands first. Among the ready values, those on the current
// clock go first, then those on clocks below it, then below its parent, and so on. A clock is entered when no value
// above it is ready, and left when no value on it or below it is, so its condition is seldom tested twice. The second
// of two complementary clocks follows the first directly, and their merge is computed like a value on the second.
#include <algorithm>
#include <map>
#include <set>

#include "lowering/schedule/passes.h"

namespace rml {

namespace {

// Ranks of clocks. The clocks below a clock have consecutive ranks, from its own to its end, and complementary clocks
// are neighbours.
class ClockOrder {
 public:
  explicit ClockOrder(const Core& core) : core_(core), rank_(core.clocks.size()), end_(core.clocks.size()) {
    std::vector<std::uint32_t> roots;
    below_.resize(core.clocks.size());
    for (std::uint32_t c = 0; c < core.clocks.size(); ++c) {
      const ClockId parent = core.clocks[c].parent;
      (parent.valid() ? below_[parent.index] : roots).push_back(c);
    }
    number(roots);
  }

  std::uint32_t rank(ClockId c) const { return rank_[c.index]; }

  // The clock on which a value is computed. For a merge it is the later ranked of the two clocks that it joins.
  ClockId place_of(ValueId v) const {
    const auto* m = std::get_if<core::Merge>(&core_[v].rhs);
    if (m == nullptr) return core_[v].clock;
    const auto at = sampled_.find({core_[v].clock, m->condition});
    return at == sampled_.end() ? core_[v].clock : at->second;
  }

  // The next ready value by rank: below the clock `now`, or else below its nearest ancestor that has a ready value.
  template <class Ready>
  typename Ready::iterator nearest(Ready& ready, ClockId now) const {
    for (ClockId around = now; around.valid(); around = core_[around].parent) {
      auto at = ready.lower_bound(rank(now));
      if (at != ready.end() && at->first < end_[around.index]) return at;
      at = ready.lower_bound(rank(around));
      if (at != ready.end() && at->first < end_[around.index]) return at;
    }
    return ready.begin();
  }

 private:
  void number(std::vector<std::uint32_t>& roots) {
    std::uint32_t next = 0;
    std::vector<std::pair<std::uint32_t, bool>> stack;  // a clock, and whether the clocks below it are done
    const auto visit = [&](std::vector<std::uint32_t>& clocks) {
      std::ranges::sort(clocks, [&](std::uint32_t a, std::uint32_t b) {
        const ValueId of_a = core_.clocks[a].condition, of_b = core_.clocks[b].condition;
        return of_a != of_b ? of_a > of_b : a < b;
      });
      for (std::uint32_t c : clocks) stack.emplace_back(c, false);
    };
    visit(roots);
    while (!stack.empty()) {
      auto [c, done] = stack.back();
      if (done) {
        end_[c] = next;
        stack.pop_back();
        continue;
      }
      stack.back().second = true;
      rank_[c] = next++;
      sampled_[{core_.clocks[c].parent, core_.clocks[c].condition}] = ClockId{c};
      visit(below_[c]);
    }
  }

  const Core& core_;
  // One per ClockId: its position in the order, and the end of the range of its samplings.
  std::vector<std::uint32_t> rank_, end_;
  std::vector<std::vector<std::uint32_t>> below_;  // indexed by ClockId: the clocks sampled from it
  // Indexed by clock and condition: the later ranked of the two sampled clocks.
  std::map<std::pair<ClockId, ValueId>, ClockId> sampled_;
};

std::vector<ValueId> ordered(const ScheduledUnit& u, const DependenceGraph& graph, const ClockOrder& clocks,
                             std::vector<std::uint32_t>& place) {
  constexpr std::uint32_t elsewhere = UINT32_MAX;
  const auto n = static_cast<std::uint32_t>(u.values.size());
  for (std::uint32_t i = 0; i < n; ++i) place[u.values[i].index] = i;
  std::vector<std::uint32_t> missing(n);
  std::vector<std::vector<std::uint32_t>> users(n);
  for (std::uint32_t i = 0; i < n; ++i)
    for (const Dependence& e : graph.of(u.values[i]))
      if (e.weight == 0 && place[e.on.index] != elsewhere) {
        ++missing[i];
        users[place[e.on.index]].push_back(i);
      }
  for (const ValueId v : u.values) place[v.index] = elsewhere;
  std::map<std::uint32_t, std::set<std::uint32_t>> ready;  // ready values by the rank of their clock
  const auto release = [&](std::uint32_t i) { ready[clocks.rank(clocks.place_of(u.values[i]))].insert(i); };
  for (std::uint32_t i = 0; i < n; ++i)
    if (missing[i] == 0) release(i);
  std::vector<ValueId> order;
  ClockId now = u.clock;
  while (!ready.empty()) {
    const auto at = clocks.nearest(ready, now);
    const std::uint32_t i = *at->second.begin();
    now = clocks.place_of(u.values[i]);
    at->second.erase(at->second.begin());
    if (at->second.empty()) ready.erase(at);
    order.push_back(u.values[i]);
    for (std::uint32_t w : users[i])
      if (--missing[w] == 0) release(w);
  }
  return order;
}

}  // namespace

Schedule order_values(Schedule s, const ScheduleFacts& facts) {
  const ClockOrder clocks(*s.core);
  std::vector<std::uint32_t> place(s.core->values.size(), UINT32_MAX);  // position in the unit that is being ordered
  for (ScheduledUnit& u : s.units)
    if (!u.segmented) u.values = ordered(u, facts.graph, clocks, place);
  return s;
}

}  // namespace rml
