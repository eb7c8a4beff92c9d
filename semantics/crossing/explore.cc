// Breadth-first search, so states are numbered in the order of the instants at which they are
// reached.
#include "semantics/crossing/explore.h"

#include <algorithm>

#include "semantics/crossing/instant_sets.h"

namespace rml {

class CrossingSearch {
 public:
  CrossingSearch(const Crossings& crossings, const Conditions& conditions, const CrossingRoots& roots,
                 const CrossingLimits& limits)
      : crossings_(crossings),
        roots_(roots),
        limits_(limits),
        found_(crossings.ports()),
        run_(conditions, conditions_of(crossings)),
        sets_(crossings, found_.sets_, run_) {}

  std::optional<CrossingAutomaton> run() {
    state({run_.start(), std::vector<PortSet>(crossings_.memories()), {}});
    for (std::uint32_t s = 0; s < states_.size(); ++s)
      if (!follow(s)) return std::nullopt;
    found_.states_ = static_cast<std::uint32_t>(states_.size());
    found_.remove_dead_ends();
    return std::move(found_);
  }

 private:
  struct State {
    ConditionRun::State conditions;
    std::vector<PortSet> memories;
    PortSet asked;
  };

  static std::vector<Condition> conditions_of(const Crossings& crossings) {
    std::vector<Condition> all;
    for (Crossings::Node n = 0; n < crossings.size(); ++n)
      if (crossings[n].kind == Crossings::Expression::choice) all.push_back(crossings[n].condition);
    return all;
  }

  std::uint32_t state(State s) {
    std::u32string key;
    for (const std::int8_t m : s.conditions.memories) key += static_cast<char32_t>(m + 1);
    key += static_cast<char32_t>(s.conditions.instant);
    key += static_cast<char32_t>(s.conditions.promises.size());
    for (const std::uint32_t code : s.conditions.promises) key += static_cast<char32_t>(code);
    for (const PortSet m : s.memories) key += static_cast<char32_t>(m.number);
    key += static_cast<char32_t>(s.asked.number);
    const auto [known, is_new] = number_.try_emplace(std::move(key), static_cast<std::uint32_t>(states_.size()));
    if (is_new) states_.push_back(std::move(s));
    return known->second;
  }

  bool follow(std::uint32_t from) {
    const State before = states_[from];
    run_.begin(before.conditions);
    do {
      if (run_.consistent()) step(from, before);
      if (states_.size() > limits_.states || found_.edges_.size() > limits_.edges ||
          sets_.spent() + run_.spent() > limits_.work || found_.sets_.stored() > limits_.words)
        return false;
    } while (run_.other_letters());
    return true;
  }

  void step(std::uint32_t from, const State& before) {
    sets_.begin(before.memories);
    CrossingAutomaton::Edge e{from, 0, {}, {}, {}, {std::vector<PortSet>(crossings_.ports()), {}}, {}};
    e.row = e.asked = sets_.of(roots_.row);
    for (const Crossings::Node other : roots_.others) e.others.push_back(sets_.of(other));
    const std::vector<PortId> asked = found_.sets_.members(before.asked);
    for (const PortId p : asked) e.through.of[p] = sets_.through(p);
    e.asked = found_.sets_.unite(e.row, found_.later(e, before.asked));
    State next;
    for (Crossings::Memory m = 0; m < crossings_.memories(); ++m) next.memories.push_back(sets_.of(crossings_.kept(m)));
    next.asked = e.asked;
    next.conditions = run_.next();
    e.letters = run_.letters();
    e.to = state(std::move(next));
    found_.edges_.push_back(std::move(e));
  }

  const Crossings& crossings_;
  const CrossingRoots& roots_;
  const CrossingLimits& limits_;
  CrossingAutomaton found_;
  ConditionRun run_;
  InstantSets sets_;
  std::vector<State> states_;
  std::unordered_map<std::u32string, std::uint32_t> number_;
};

std::optional<CrossingAutomaton> CrossingAutomaton::explore(const Crossings& crossings, const Conditions& conditions,
                                                            const CrossingRoots& roots, const CrossingLimits& limits) {
  return CrossingSearch(crossings, conditions, roots, limits).run();
}

void CrossingAutomaton::remove_dead_ends() {
  std::vector<std::uint32_t> left(states_);
  std::vector<std::vector<std::uint32_t>> into(states_);
  for (std::uint32_t e = 0; e < edges_.size(); ++e) {
    ++left[edges_[e].from];
    into[edges_[e].to].push_back(e);
  }
  std::vector<bool> dead(edges_.size());
  std::vector<std::uint32_t> work;
  for (std::uint32_t s = 0; s < states_; ++s)
    if (left[s] == 0) work.push_back(s);
  while (!work.empty()) {
    const std::uint32_t s = work.back();
    work.pop_back();
    for (const std::uint32_t e : into[s]) {
      if (dead[e]) continue;
      dead[e] = true;
      if (--left[edges_[e].from] == 0) work.push_back(edges_[e].from);
    }
  }
  std::size_t k = 0;
  std::erase_if(edges_, [&](const Edge&) { return dead[k++]; });
  from_.resize(states_);
  for (std::uint32_t e = 0; e < edges_.size(); ++e) from_[edges_[e].from].push_back(e);
}

PortSet CrossingAutomaton::later(const Edge& e, PortSet asked) { return sets_.unite_of(asked, e.through); }

}  // namespace rml
