// Searches for values that need themselves within an instant.
//
// A core lists operands before users except on a cycle, so most cores are accepted after one
// scan. In a strongly connected part, each edge has a guard: a formula over the Booleans of the
// instant. A cycle of edges whose guards hold is an error. If a cycle has edges whose guards may
// hold, the search assumes a letter of a guard true, then false, and drops the parts that no
// cycle can pass any more. A guard that depends on the cycle itself makes it an error too. The
// search is exact within its budget. Beyond the budget the program is accepted, and the scheduler
// reports values without an order of computation.
#include <algorithm>
#include <deque>
#include <set>

#include "semantics/core/components.h"
#include "semantics/simplify/instant_truth.h"
#include "semantics/time/causality.h"
#include "semantics/time/cycle_report.h"

namespace rml {

namespace {

constexpr std::int64_t budget = 20'000'000;  // edges and nodes of formulas visited, per core
constexpr int max_decisions = 200;           // nesting depth of assumptions

bool has_instants(const Core& core, ValueId v) { return !core.is_const(v) && core[v].clock != never_clock; }

// Calls f(operand, hop) for each value that v may need within the instant.
template <class F>
void for_each_need(const Core& core, ValueId v, F&& f) {
  if (!has_instants(core, v)) return;
  const auto need = [&](const Hop& hop) {
    if (has_instants(core, hop.to)) f(hop);
  };
  const Clock& clock = core[core[v].clock];
  if (clock.condition.valid()) need({.from = v, .to = clock.condition, .presence = true});
  if (const auto* m = std::get_if<core::Merge>(&core[v].rhs)) {
    need({.from = v, .to = m->condition});
    need({.from = v, .to = m->on_true, .where = {m->condition, true}});
    need({.from = v, .to = m->on_false, .where = {m->condition, false}});
  } else if (const auto* fby = std::get_if<core::Fby>(&core[v].rhs)) {
    need({.from = v, .to = fby->init, .at_start = true});
  } else if (!std::holds_alternative<core::Post>(core[v].rhs)) {
    for_each_operand(core[v].rhs, [&](ValueId o) { need({.from = v, .to = o}); });
  }
}

bool in_order(const Core& core) {
  for (std::uint32_t v = 0; v < core.values.size(); ++v) {
    bool ordered = true;
    for_each_need(core, ValueId{v}, [&](const Hop& h) { ordered = ordered && h.to.index < v; });
    if (!ordered) return false;
  }
  return true;
}

class Causality {
 public:
  Causality(const Core& core, Diagnostics& diagnostics) : core_(core), diagnostics_(diagnostics), truth_(core) {}

  void run() {
    std::uint32_t found = 0;
    const auto component = strong_components(
        core_.values.size(),
        [&](std::uint32_t v, auto&& f) { for_each_need(core_, ValueId{v}, [&](const Hop& h) { f(h.to.index); }); },
        found);
    std::vector<std::vector<ValueId>> parts(found);
    for (std::uint32_t v = 0; v < core_.values.size(); ++v) parts[component[v]].push_back(ValueId{v});
    std::erase_if(parts, [&](const auto& part) { return part.size() == 1 && !needs_itself(part[0]); });
    std::ranges::sort(parts, {}, [&](const auto& part) { return std::pair(invention(part), part[0]); });
    for (const auto& part : parts) judge(part);
  }

 private:
  struct Edge {
    std::uint32_t to = 0;  // index of the needed value among the members
    Formulas::Formula guard;
    Hop hop;
  };
  using Members = std::vector<std::uint32_t>;

  // Sort key: cycles in the user's equations come first, then cycles in code made by `diff`,
  // whose span is a whole equation.
  std::int64_t invention(const std::vector<ValueId>& part) const {
    const Value& v = core_[named_one(part)];
    return is_derived(core_, named_one(part)) ? std::int64_t{v.span.end} - v.span.begin : 0;
  }
  ValueId named_one(const std::vector<ValueId>& part) const {
    const auto named = std::ranges::find_if(part, [&](ValueId v) { return !core_[v].name.empty(); });
    return named != part.end() ? *named : part[0];
  }

  bool needs_itself(ValueId v) const {
    bool itself = false;
    for_each_need(core_, v, [&](const Hop& h) { itself = itself || h.to == v; });
    return itself;
  }

  void judge(const std::vector<ValueId>& part) {
    values_ = part;  // the members of the part, in the order of their ids
    edges_.assign(part.size(), {});
    std::vector<Formulas::Formula> guards;
    for (std::uint32_t k = 0; k < part.size(); ++k)
      for_each_need(core_, part[k], [&](const Hop& hop) {
        const auto at = std::ranges::lower_bound(part, hop.to);
        if (at == part.end() || *at != hop.to) return;
        edges_[k].push_back({static_cast<std::uint32_t>(at - part.begin()), guard(hop), hop});
        guards.push_back(edges_[k].back().guard);
      });
    cone_ = truth_.formulas().cone(guards);
    truths_.assign(truth_.formulas().size(), Truth::unseen);
    Members all(part.size());
    for (std::uint32_t k = 0; k < all.size(); ++k) all[k] = k;
    search(all, 0);
  }

  // The condition under which the hop is a dependence.
  Formulas::Formula guard(const Hop& hop) {
    Formulas& formulas = truth_.formulas();
    const Value& from = core_[hop.from];
    if (hop.presence) return truth_.ticks(core_[from.clock].parent);
    Formulas::Formula made = truth_.ticks(from.clock);
    if (hop.where.condition.valid()) {
      const Formulas::Formula holds = truth_.holds(hop.where.condition);
      made = formulas.both(made, hop.where.positive ? holds : !holds);
    }
    return hop.at_start ? formulas.both(made, truth_.starts(from.clock)) : made;
  }

  Truth holds(const Edge& e) const { return Formulas::value(e.guard, truths_); }

  // Cyclic parts of the members, along the edges that the predicate accepts.
  template <class Takes>
  std::vector<Members> cyclic(const Members& members, Takes&& takes) {
    place_.resize(values_.size(), UINT32_MAX);
    for (std::uint32_t k = 0; k < members.size(); ++k) place_[members[k]] = k;
    std::uint32_t found = 0;
    const auto component = strong_components(
        members.size(),
        [&](std::uint32_t k, auto&& f) {
          for (const Edge& e : edges_[members[k]])
            if (place_[e.to] != UINT32_MAX && takes(e)) f(place_[e.to]);
        },
        found);
    std::vector<Members> groups(found);
    for (std::uint32_t k = 0; k < members.size(); ++k) groups[component[k]].push_back(members[k]);
    for (const std::uint32_t m : members) {
      spent_ += 1 + static_cast<std::int64_t>(edges_[m].size());
      place_[m] = UINT32_MAX;
    }
    std::erase_if(groups, [&](const Members& g) {
      return g.size() == 1 &&
             std::ranges::none_of(edges_[g[0]], [&](const Edge& e) { return e.to == g[0] && takes(e); });
    });
    return groups;
  }

  // True if a cycle was found and reported.
  bool search(const Members& members, int decisions) {
    const auto decide = [&] {
      truth_.formulas().evaluate(cone_, truths_);
      spent_ += static_cast<std::int64_t>(cone_.size());
    };
    decide();
    const auto surely = [&](const Edge& e) { return holds(e) == Truth::yes; };
    const auto perhaps = [&](const Edge& e) { return holds(e) != Truth::no; };
    if (const auto sure = cyclic(members, surely); !sure.empty()) return report(sure[0], surely);
    for (const Members& part : cyclic(members, perhaps)) {
      const std::uint32_t letter = undecided(part);
      if (letter == 0) return report(part, perhaps);  // the conditions depend on the cycle
      if (spent_ > budget || decisions == max_decisions) continue;
      for (const Truth truth : {Truth::yes, Truth::no}) {
        truths_[letter] = truth;
        if (search(part, decisions + 1)) return true;
      }
      truths_[letter] = Truth::unseen;
      decide();
    }
    return false;
  }

  // An undecided letter in the guard of an edge among the members; 0 if there is none.
  std::uint32_t undecided(const Members& members) {
    for (const std::uint32_t m : members)
      for (const Edge& e : edges_[m])
        if (holds(e) == Truth::unseen && std::ranges::binary_search(members, e.to))
          if (const std::uint32_t letter = truth_.formulas().undecided(e.guard, truths_); letter != 0) return letter;
    return 0;
  }

  // A shortest cycle through the member, along edges that the predicate accepts.
  template <class Takes>
  std::vector<Hop> shortest(const Members& members, std::uint32_t start, Takes&& takes) const {
    // For each reached value: its predecessor and the hop from it.
    std::unordered_map<std::uint32_t, std::pair<std::uint32_t, Hop>> reached;
    std::deque<std::uint32_t> work{start};
    while (!work.empty() && !reached.contains(start)) {
      const std::uint32_t m = work.front();
      work.pop_front();
      for (const Edge& e : edges_[m]) {
        if (!takes(e) || !std::ranges::binary_search(members, e.to)) continue;
        if (reached.try_emplace(e.to, m, e.hop).second) work.push_back(e.to);
      }
    }
    std::vector<Hop> path;
    for (std::uint32_t at = start; path.empty() || at != start; at = reached.at(at).first)
      path.push_back(reached.at(at).second);
    std::ranges::reverse(path);
    return path;
  }

  template <class Takes>
  bool report(const Members& members, Takes&& takes) {
    std::vector<ValueId> cycle;
    for (const std::uint32_t m : members) cycle.push_back(values_[m]);
    const ValueId v = named_one(cycle);
    const auto start = static_cast<std::uint32_t>(std::ranges::lower_bound(values_, v) - values_.begin());
    const Span span = core_[v].span;
    if (!told_.insert({span.file, span.begin, span.end}).second) return true;
    if (is_derived(core_, v) && !derived_.insert(core_[v].instance).second) return true;
    const std::vector<Hop> path = shortest(members, start, takes);
    auto& d = diagnostics_.report(Code::E0501, span, told(core_, v) + " needs its own value of the same cycle",
                                  "defined in terms of itself");
    explain_cycle(core_, path, d);
    if (core_[v].clock != base_clock) d.note("at the cycles of `" + clock_string(core_, core_[v].clock) + "`");
    explain_instance(core_, v, d);
    d.note(is_derived(core_, v) ? "the cycle is in the gradient: if you wrote the gradient of a node on the way, "
                                  "it needs all adjoints of the "
                                  "node's results at the same cycle"
                                : "break the cycle with a delay: `init fby …` takes the value of the previous cycle");
    return true;
  }

  const Core& core_;
  Diagnostics& diagnostics_;
  InstantTruth truth_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> told_;
  std::set<InstanceId> derived_;  // adjoints form the same cycles: reported once per instance
  std::int64_t spent_ = 0;
  // State of the current part.
  std::vector<ValueId> values_;
  std::vector<std::vector<Edge>> edges_;
  std::vector<std::uint32_t> cone_;
  std::vector<Truth> truths_;
  std::vector<std::uint32_t> place_;
};

}  // namespace

void check_causality(const Core& core, Diagnostics& diagnostics) {
  for (const ExternalNode& external : core.externals)
    if (external.iteration != nullptr) check_causality(external.iteration->body, diagnostics);
  if (!in_order(core)) Causality(core, diagnostics).run();
}

}  // namespace rml
