// Finds a cut, and the sweeps of a segment with it.
//
// The candidates are the complements of the conditions that guard a component's posts. For each
// candidate, the class graph is built and searched for sweeps. If values depend on each other
// both ways, the search assumes that a condition between them holds only where the cut does
// ("`batch_end` only where `end`"). Of several plans, the one with the fewest assumptions is
// chosen; then one whose cut depends on no later cycle; then the one whose cut holds wherever the
// other cuts hold.
#include "semantics/time/find_cut.h"

#include <algorithm>
#include <map>
#include <set>

#include "semantics/core/queries.h"
#include "semantics/time/class_graph.h"

namespace rml {

namespace {

// Values on the component's clock, or sampled from it, that equal the condition: itself, or a
// sampling.
std::vector<Literal> realisations(const DependenceGraph& graph, ClockId clock, Literal stripped,
                                  const std::map<ValueId, std::vector<ValueId>>& forms) {
  const Core& core = graph.core();
  if (core[stripped.condition].clock == clock) return {stripped};
  const auto at = forms.find(stripped.condition);
  if (at == forms.end()) return {};
  std::optional<Literal> best;
  for (ValueId v : at->second) {
    if (!within(core, core[v].clock, clock) || graph.demand(v).never) continue;
    if (best && core[best->condition].clock == clock) break;
    if (best && core[v].clock != clock) continue;
    best = Literal{v, stripped.positive == graph.strip({v, true}).positive};
  }
  return best ? std::vector<Literal>{*best} : std::vector<Literal>{};
}

// True if the value may be known only after the inputs of its cycle.
bool hangs_on_post(const DependenceGraph& graph, ValueId v) {
  std::set<ValueId> met{v};
  std::vector<ValueId> work{v};
  while (!work.empty()) {
    const ValueId at = work.back();
    work.pop_back();
    if (std::holds_alternative<core::Post>(graph.core()[at].rhs)) return true;
    for (const Dependence& e : graph.of(at))
      if (met.insert(e.on).second) work.push_back(e.on);
  }
  return false;
}

class CutSearch {
 public:
  CutSearch(const DependenceGraph& graph, const Components& components, std::uint32_t component)
      : graph_(graph), components_(components), component_(component) {
    const Core& core = graph.core();
    for (std::size_t i = 0; i < core.values.size(); ++i)
      if (const Value& v = core.values[i]; v.dtype == DType::boolean && v.shape.empty() && !core.is_const(ValueId{i}))
        forms_[graph.strip({ValueId{i}, true}).condition].push_back(ValueId{i});
  }

  SegmentResult run() {
    const Component& comp = components_.list[component_];
    std::vector<Literal> candidates;
    for (ValueId v : comp.values) {
      if (!std::holds_alternative<core::Post>(graph_.core()[v].rhs)) continue;
      if (!failure_.post.valid()) failure_.post = v;
      for (Literal l : complements(v))
        if (std::ranges::find(candidates, l) == candidates.end()) candidates.push_back(l);
    }
    for (Literal cut : candidates) attempt({cut, {}});
    if (!best_) return {std::nullopt, failure_};
    return {std::move(best_), {}};
  }

  std::optional<SegmentPlan> under(const Cut& cut) {
    attempt(cut);
    return std::move(best_);
  }

 private:
  // The conditions that would stop this post: the complement of each literal under which it is
  // needed.
  std::vector<Literal> complements(ValueId post) const {
    std::vector<Literal> out;
    for (Literal l : graph_.demand(post).literals)
      for (Literal r : realisations(graph_, components_.list[component_].clock, {l.condition, !l.positive}, forms_))
        if (!at_start(r)) out.push_back(r);
    return out;
  }

  static bool known(ClassGraph& g, Literal l, std::uint8_t instant_class) {
    return g.facts().truth(l.condition, instant_class) == truth_of(l.positive);
  }

  // True if the literal can hold only at the first instant, and so ends no segment.
  bool at_start(Literal l) const {
    Guard g;
    graph_.add(g, l);
    for (Literal p : graph_.presence(graph_.core()[l.condition].clock)) graph_.add(g, p);
    return std::ranges::any_of(g.literals,
                               [&](Literal s) { return s.positive && is_start(graph_.core(), s.condition); });
  }

  void attempt(const Cut& cut) {
    std::size_t assumptions = cut.only.size();
    if (best_ && assumptions > best_assumptions_) return;
    ClassGraph g(graph_, components_, component_, cut);
    if (g.facts().contradictory()) return;
    if (!g.uncut().empty()) {
      if (failure_.kind == SegmentFailure::no_cut) failure_.post = g.uncut()[0];
      return;
    }
    SegmentFailure failure;
    auto plan = g.plan(failure);
    if (!plan) {
      if (failure_.kind == SegmentFailure::no_cut || failure.kind == SegmentFailure::cut_waits) failure_ = failure;
      if (failure.kind != SegmentFailure::both_ways || assumptions >= max_assumptions) return;
      for (Literal l : cut.by_need ? conjuncts(cut.literal) : g.undecided()) {
        if (known(g, l, first_instant) || known(g, l, interior_instant)) continue;
        Cut more = cut;
        more.only.push_back(l);
        attempt(more);
      }
      return;
    }
    if (!plan->awaiting.empty()) ++assumptions;
    const bool as_few = best_ && assumptions == best_assumptions_;
    if (!best_ || assumptions < best_assumptions_ || (as_few && is_better(cut.literal, best_->cut))) {
      best_ = std::move(plan);
      best_assumptions_ = assumptions;
    }
  }

  // Among cuts with equally many assumptions: a cut known in its own cycle, then one that holds
  // earlier.
  bool is_better(Literal l, Literal than) const {
    const bool late = hangs_on_post(graph_, l.condition), other = hangs_on_post(graph_, than.condition);
    return late == other ? follows(than, l) : other;
  }

  // True if the second condition holds wherever the first does, as with `done` and `done or
  // truncated`. In this case segments whose ends are given by the second condition end earlier.
  bool follows(Literal first, Literal second) const {
    Guard none;
    graph_.add(none, {second.condition, !second.positive});
    const Literal l = graph_.strip(first);
    return graph_.strip(second) != l && none.contains({l.condition, !l.positive});
  }

  // The literals implied by a computed cut, without the cut itself.
  std::vector<Literal> conjuncts(Literal cut) const {
    Guard all;
    graph_.add(all, cut);
    std::erase_if(all.literals,
                  [&](Literal l) { return l == graph_.strip(cut) || apply_of(graph_.core(), l.condition); });
    return all.literals;
  }

  static constexpr std::size_t max_assumptions = 2;
  const DependenceGraph& graph_;
  const Components& components_;
  std::uint32_t component_;
  std::map<ValueId, std::vector<ValueId>> forms_;
  std::optional<SegmentPlan> best_;
  std::size_t best_assumptions_ = 0;
  SegmentFailure failure_;
};

}  // namespace

SegmentResult find_cut(const DependenceGraph& graph, const Components& components, std::uint32_t component) {
  return CutSearch(graph, components, component).run();
}

std::optional<SegmentPlan> plan_under(const DependenceGraph& graph, const Components& components,
                                      std::uint32_t component, const Cut& cut) {
  return CutSearch(graph, components, component).under(cut);
}

}  // namespace rml
