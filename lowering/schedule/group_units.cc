// Makes units of the components of the pruned and retimed core.
//
// Each acyclic or forward component gets a signature: the set of things its values wait for (segmented components, and
// per clock the number of posts passed). Components of one signature advance in step and form one unit. Signatures only
// grow along dependences, so units form an acyclic graph.
#include <algorithm>
#include <map>
#include <set>

#include "lowering/schedule/passes.h"
#include "lowering/schedule/segment_units.h"
#include "semantics/crossing/productive.h"
#include "semantics/time/cycle_report.h"
#include "semantics/time/find_cuts.h"
#include "semantics/time/offsets.h"

namespace rml {

namespace {

class Grouping {
 public:
  Grouping(std::shared_ptr<const Core> core, const DependenceGraph& graph, const Components& components,
           const std::map<ValueId, SegmentResult>& plans, const Target& target, Diagnostics& diagnostics)
      : core_(*core),
        graph_(graph),
        components_(components),
        plans_(plans),
        target_(target),
        diagnostics_(diagnostics),
        segments_(graph, out_) {
    out_.core = std::move(core);
  }

  std::optional<Schedule> run() {
    out_.unit_of.assign(core_.values.size(), Schedule::nowhere);
    for (std::size_t i = 0; i < core_.values.size(); ++i) out_.sources.push_back({ValueId{i}, 0});
    signature_.resize(core_.values.size());
    for (std::uint32_t c = 0; c < components_.list.size(); ++c)
      if (!place(c)) return std::nullopt;
    return std::move(out_);
  }

 private:
  // What a value waits for: (source, lag) pairs, sorted. A source is a clock (its posts) or, with numbers after all
  // clocks, one of the two ends of a segmented component.
  using Signature = std::map<std::uint32_t, std::uint32_t>;

  static void join(Signature& into, const Signature& from) {
    for (const auto& [source, lag] : from) into[source] = std::max(into[source], lag);
  }

  Signature waits_for(const Component& c) const {
    Signature s;
    for (ValueId v : c.values)
      for (const Dependence& e : graph_.of(v)) join(s, signature_[e.on.index]);
    return s;
  }

  bool place(std::uint32_t index) {
    const Component& c = components_.list[index];
    const ValueId v = c.values[0];
    if (!c.cyclic && out_.is_base_input(v)) return true;
    Signature s = waits_for(c);
    if (const auto* p = std::get_if<core::Post>(&core_[v].rhs); p != nullptr && !c.cyclic) {
      out_.sources[v.index] = out_.sources[p->operand.index];
      ++out_.sources[v.index].skip;
      ++s[core_[v].clock.index];
      signature_[v.index] = std::move(s);
      return true;
    }
    if (!c.cyclic && (place_sample(v) || place_product(v) || place_result(v))) return true;
    if (!c.cyclic || !has_post(core_, c)) return place_forward(c, s);
    return place_segmented(index, s);
  }

  // A tensor of a segmented unit is sampled inside the unit if the condition is an input, so that readers get only the
  // samples. A large tensor, which would be kept for readers at every instant, is also sampled there if the condition
  // is known immediately.
  bool place_sample(ValueId v) {
    const auto* w = std::get_if<core::When>(&core_[v].rhs);
    if (w == nullptr || core_[v].shape.empty()) return false;
    const bool known = out_.is_base_input(w->condition) || (signature_[w->condition.index].empty() &&
                                                            *element_count(core_[v].shape) >= target_.asked_elements);
    return known && place_beside(v, w->operand);
  }

  // A product of the unit's tensor with a matrix that stays the same is computed inside the unit, if readers get no
  // more elements of it. There the products of all instants may become one (lowering/segment/batch_in_time.h).
  bool place_product(ValueId v) {
    const auto* a = apply_of(core_, v, Lowering::matmul);
    if (a == nullptr) return false;
    const auto is_matrix = [&](ValueId o) {
      if (const auto* t = apply_of(core_, o, Lowering::transpose)) o = t->operands[0];
      const auto* memory = std::get_if<core::Fby>(&core_[o].rhs);
      return memory != nullptr && memory->next == o && signature_[o.index].empty();
    };
    const ValueId x = a->operands[0], y = a->operands[1];
    const ValueId late = is_matrix(x) ? y : x;
    return (is_matrix(x) || is_matrix(y)) && *element_count(core_[v].shape) <= *element_count(core_[late].shape) &&
           place_beside(v, late);
  }

  // Places the value in the last sweep that computes the tensor, if a segmented unit does.
  bool place_beside(ValueId v, ValueId tensor) {
    const std::uint32_t of = out_.unit_of[tensor.index];
    if (of == Schedule::nowhere || !out_.units[of].segmented || core_[tensor].clock != out_.units[of].clock)
      return false;
    SweepPlan* last = nullptr;
    SweepItem item{v, 0};
    for (SweepPlan& sweep : out_.units[of].plan.sweeps)
      for (const SweepItem& i : sweep.items)
        if (i.value == tensor) last = &sweep, item.classes |= i.classes;
    if (last == nullptr) return false;
    last->items.push_back(item);
    out_.units[of].values.push_back(v);
    out_.unit_of[v.index] = of;
    signature_[v.index] = signature_[tensor.index];
    return true;
  }

  // The results of a call in a segmented unit belong to that unit, wherever they are read.
  bool place_result(ValueId v) {
    const auto* r = std::get_if<core::Result>(&core_[v].rhs);
    const std::uint32_t of = r == nullptr ? Schedule::nowhere : out_.unit_of[r->call.index];
    if (of == Schedule::nowhere || !out_.units[of].segmented) return false;
    for (SweepPlan& sweep : out_.units[of].plan.sweeps)
      for (std::size_t k = 0; k < sweep.items.size(); ++k)  // a call occurs twice if its order depends on the class
        if (sweep.items[k].value == r->call)
          sweep.items.insert(sweep.items.begin() + static_cast<std::ptrdiff_t>(k) + 1, {v, sweep.items[k].classes});
    out_.units[of].values.push_back(v);
    out_.unit_of[v.index] = of;
    signature_[v.index] = signature_[r->call.index];
    return true;
  }

  bool place_forward(const Component& c, const Signature& s) {
    const auto [at, fresh] = forward_units_.try_emplace(s, out_.units.size());
    if (fresh) out_.units.emplace_back();
    for (ValueId v : c.values) {
      out_.unit_of[v.index] = static_cast<std::uint32_t>(at->second);
      out_.units[at->second].values.push_back(v);
      signature_[v.index] = s;
    }
    return true;
  }

  bool place_segmented(std::uint32_t index, Signature s) {
    const Component& c = components_.list[index];
    const SegmentResult& r = plans_.at(c.values[0]);
    if (!r.plan) {
      const ValueId v = c.values[0];
      auto& d = diagnostics_.report(Code::E0701, core_[v].span, "no static schedule for `" + describe(core_, v) + "`");
      explain_cycle(core_, find_cycle(graph_, c.values, v, every_edge), d);
      d.note(runs_on_demand);
      const std::string hint = training_hint(core_, c.values);
      if (!hint.empty() && find_unknown_rows(core_).knot)
        diagnostics_
            .report(Code::W0501, core_[v].span,
                    "`" + describe(core_, v) +
                        "` may depend on itself through other cycles; then no later row is ever known")
            .note(hint);
      return false;
    }
    join(s, signature_[r.plan->cut.condition.index]);
    for (const Literal& l : r.plan->only_at_cut) join(s, signature_[l.condition.index]);
    const std::uint32_t unit = segments_.place(c, *r.plan, late_operands(c, *r.plan));
    const auto ends = static_cast<std::uint32_t>(core_.clocks.size()) + 2 * unit;
    // A unit waits for the operands of its first component.
    const Signature& own = unit_signatures_.try_emplace(unit, std::move(s)).first->second;
    for (ValueId v : c.values) {
      Signature of_value = own;
      of_value[segments_.is_early(v) ? ends : ends + 1] = 1;
      signature_[v.index] = std::move(of_value);
    }
    return true;
  }

  // The operands of a segmented component, including its cut, that come from other units and wait for anything.
  std::set<ValueId> late_operands(const Component& c, const SegmentPlan& plan) const {
    std::set<ValueId> late;
    const auto add = [&](ValueId v) {
      const bool own = components_.of[v.index] == components_.of[c.values[0].index];
      if (!own && !signature_[v.index].empty()) late.insert(v);
    };
    for (ValueId v : c.values)
      for (const Dependence& e : graph_.of(v)) add(e.on);
    add(plan.cut.condition);
    return late;
  }

  const Core& core_;
  const DependenceGraph& graph_;
  const Components& components_;
  const std::map<ValueId, SegmentResult>& plans_;
  const Target& target_;
  Diagnostics& diagnostics_;
  Schedule out_;
  std::vector<Signature> signature_;  // one per ValueId: its signature
  std::map<Signature, std::size_t> forward_units_;
  std::map<std::uint32_t, Signature> unit_signatures_;  // indexed by segmented unit: its signature
  SegmentUnits segments_;
};

}  // namespace

CutsOfCore::CutsOfCore(std::shared_ptr<const Core> core) : core_(std::move(core)), facts_(*core_) {}

const CutsOfCore::Found& CutsOfCore::found(Ends ends) {
  const auto [at, is_new] = found_.try_emplace(ends);
  if (is_new) {
    Cuts& cuts = at->second.cuts = find_cuts(core_, facts_.graph, facts_.components, ends);
    if (cuts.core != core_) at->second.own.emplace(*cuts.core, cuts.ends);
  }
  return at->second;
}

const ScheduleFacts* CutsOfCore::facts_of(const std::shared_ptr<const Core>& core) const {
  if (core == core_) return &facts_;
  for (const auto& [ends, found] : found_)
    if (core == found.cuts.core) return &facts(found);
  return nullptr;
}

std::optional<Schedule> group_units(CutsOfCore& of, Segmenting how, const Target& target, Diagnostics& diagnostics) {
  const CutsOfCore::Found& found = of.found(how.ends);
  const Cuts& cuts = found.cuts;
  const ScheduleFacts& facts = of.facts(found);
  if (how.windows == Windows::apart)
    return Grouping(cuts.core, facts.graph, facts.components, cuts.plans, target, diagnostics).run();
  const auto shared = share_windows(facts.graph, facts.components, cuts.plans, how.windows);
  if (!shared) return std::nullopt;
  return Grouping(cuts.core, facts.graph, shared->components, shared->plans, target, diagnostics).run();
}

std::vector<ValueId> segment_ends(const Schedule& s) {
  std::vector<ValueId> ends;
  for (const ScheduledUnit& u : s.units)
    if (u.segmented && u.plan.by_need) ends.push_back(u.plan.cut.condition);
  return ends;
}

}  // namespace rml
