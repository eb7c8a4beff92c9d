// Checks each component: first offsets, else segments.
//
// check_causality has ensured that no value needs itself within an instant. A cycle in which
// delays and look-ahead cancel is an error. A component with unbounded look-ahead needs a cut
// that recurs. Constant conditions were folded before. A condition without inputs is run until
// its states repeat. A condition with inputs becomes an assumption, unless no input makes it
// true. If there is no cut, the check searches all ways by which rows can become known
// (semantics/crossing/productive.h).
#include "semantics/time/productivity.h"

#include <algorithm>
#include <memory>
#include <set>

#include "semantics/core/knots.h"
#include "semantics/crossing/productive.h"
#include "semantics/crossing/simulate.h"
#include "semantics/time/cycle_report.h"
#include "semantics/time/find_cuts.h"
#include "semantics/time/offsets.h"

namespace rml {

namespace {

class Check {
 public:
  Check(std::shared_ptr<const Core> core, Diagnostics& diagnostics)
      : core_(*core), whole_(std::move(core)), graph_(core_), diagnostics_(diagnostics) {}

  Productivity run() {
    const Components components = find_components(graph_);
    std::vector<std::uint32_t> looking;
    std::vector<Offsets> offsets;
    for (std::uint32_t c = 0; c < components.list.size(); ++c) {
      if (!components.list[c].cyclic || !has_post(core_, components.list[c])) continue;
      Offsets found = find_offsets(graph_, components, c);
      if (found.kind == Offsets::found) continue;
      looking.push_back(c);
      offsets.push_back(std::move(found));
    }
    const Cuts cuts = find_cuts(whole_, graph_, components, Ends::by_need, &looking);
    for (std::size_t k = 0; k < looking.size(); ++k) component(components.list[looking[k]], offsets[k], cuts);
    return std::move(result_);
  }

 private:
  void component(const Component& comp, const Offsets& offsets, const Cuts& cuts) {
    const SegmentResult& segments = cuts.plans.at(comp.values[0]);
    if (segments.plan && ends(comp, offsets, *segments.plan, *cuts.core)) return;
    if (offsets.kind == Offsets::zero_cycle && is_knot(comp)) {
      report_instantaneous(offsets.cycle, without_slack(comp, offsets));
    } else if (segments.failure.kind == SegmentFailure::cut_waits && is_knot(comp)) {
      report_unproductive(comp, segments.failure);
    } else if (!asks_for_ever(comp)) {
      unscheduled(comp, offsets);
    } else if (const std::vector<Literal> ends = ends_of(comp);
               !ends.empty() && std::ranges::none_of(ends, [&](Literal l) { return can_hold(core_, l); })) {
      report_in_vain(core_, comp, ends);
    } else {
      report_unproductive(comp, segments.failure);
    }
  }

  // Reports where the plan's segments end, or why they do not end. False if the plan is useless
  // and the other checks must find the reason. `core` has additional equations for the
  // conditions.
  bool ends(const Component& comp, const Offsets& offsets, const SegmentPlan& plan, const Core& core) {
    const Recurrence r = find_recurrence(core, plan.cut);
    const bool in_vain = r.kind == Recurrence::stops || (r.kind == Recurrence::unknown && !can_hold(core, plan.cut));
    if (plan.by_need && (in_vain || asks_for_ever(comp))) return false;
    tell_knots(core, plan);
    if (in_vain && knowable().all && !asks_for_ever(comp)) {
      unscheduled(comp, offsets);  // no cut is needed: other conditions end the dependence, or no value is needed
    } else if (r.kind == Recurrence::stops) {
      report_stop(core, plan.cut, r);
    } else {
      tell_recurrence(core, plan.cut, r);
      if (in_vain) report_in_vain(core, comp, {plan.cut});
    }
    return true;
  }

  // True if a row may need a value that needs itself, along a path whose conditions derive from
  // one stream. For several streams, a relation between the inputs may exclude the path.
  bool is_knot(const Component& comp) { return may_knot() && meets_itself_by_one_stream(graph_, comp); }
  bool may_knot() { return knowable().knot || !knowable().all; }

  // True if a row that no input makes known needs posts of the component. If rows can become
  // known but there is no schedule, the scheduler reports it.
  bool asks_for_ever(const Component& comp) {
    return std::ranges::any_of(knowable().posts, [&](ValueId v) { return std::ranges::binary_search(comp.values, v); });
  }
  const Knowable& knowable() {
    if (!knowable_) knowable_ = find_unknown_rows(core_);
    return *knowable_;
  }

  // The conditions that would stop a dependence on the next cycle: the complements of its demand.
  std::vector<Literal> ends_of(const Component& comp) const {
    std::vector<Literal> found;
    for (const ValueId v : comp.values) {
      if (!std::holds_alternative<core::Post>(core_[v].rhs)) continue;
      for (const Literal l : graph_.demand(v).literals)
        if (const Literal end{l.condition, !l.positive}; std::ranges::find(found, end) == found.end())
          found.push_back(end);
    }
    return found;
  }

  // Reports an assumption (a condition holds only where the cut does) that some run violates, so
  // that a value would need itself.
  void tell_knots(const Core& core, const SegmentPlan& plan) {
    for (const Literal& l : plan.only_at_cut)
      if (knowable().knot)
        add("rows end at the first cycle where " + text_of(core, l) + " holds and " + text_of(core, plan.cut) +
            " does not: a value needs itself there");
  }

  // `core` has additional equations for the conditions.
  void report_in_vain(const Core& core, const Component& comp, const std::vector<Literal>& ends) {
    const ValueId post =
        *std::ranges::find_if(comp.values, [&](ValueId v) { return std::holds_alternative<core::Post>(core_[v].rhs); });
    const std::string end = text_of(core, ends[0]);
    const std::string row = std::to_string(knowable().unknown_row.value_or(0));
    auto& d = diagnostics_.report(Code::E0502, core_[post].span,
                                  "row " + row + " is never known, for any input: it needs `" + describe(core_, post) +
                                      "`, and " + end + ", which would end this dependence, is never true",
                                  "depends on the next cycle without end");
    d.label(core[ends[0].condition].span, "is never true");
    explain_cycle(core_, find_cycle(graph_, comp.values, post, every_edge), d);
    explain_instance(core_, post, d);
  }

  void unscheduled(const Component& comp, const Offsets& offsets) {
    if (offsets.kind == Offsets::zero_cycle && knowable().knot)
      warn_of_knot(offsets.cycle, without_slack(comp, offsets));
    add("`" + describe(core_, named_one(comp.values)) + "` and the values that depend on it have no static schedule");
  }

  ValueId named_one(const std::vector<ValueId>& values) const {
    for (ValueId v : values)
      if (!core_[v].name.empty()) return v;
    return values[0];
  }

  // Selects the edges whose operand is computed in the same step as the user; their cycles have
  // weight 0.
  Follows without_slack(const Component& comp, const Offsets& offsets) const {
    return [&](ValueId user, const Dependence& e) {
      const auto offset = [&](ValueId v) {
        const auto at = std::ranges::lower_bound(comp.values, v) - comp.values.begin();
        return offsets.by_member[static_cast<std::size_t>(at)];
      };
      return !stays_delay(core_, comp, user, e) && offset(user) == offset(e.on) + e.weight;
    };
  }

  void report_instantaneous(const std::vector<ValueId>& cycle, const Follows& follows) {
    report_cycle(Code::E0501, cycle, follows, "needs its own value of the same cycle", "defined in terms of itself");
  }

  void warn_of_knot(const std::vector<ValueId>& cycle, const Follows& follows) {
    report_cycle(Code::W0501, cycle, follows,
                 "may depend on itself through other cycles; then no later row is ever known",
                 "defined in terms of itself if these conditions hold");
  }

  void report_cycle(Code code, std::vector<ValueId> members, const Follows& follows, const std::string& what,
                    const std::string& label) {
    std::ranges::sort(members);
    const ValueId v = named_one(members);
    auto& d = diagnostics_.report(code, core_[v].span, told(core_, v) + " " + what, label);
    explain_cycle(core_, find_cycle(graph_, members, v, follows), d);
    explain_instance(core_, v, d);
  }

  void report_unproductive(const Component& comp, const SegmentFailure& failure) {
    ValueId post = failure.post;
    for (ValueId v : comp.values)
      if (!post.valid() && std::holds_alternative<core::Post>(core_[v].rhs)) post = v;
    if (failure.kind == SegmentFailure::no_cut && is_derived(core_, post)) {
      auto& d = diagnostics_.report(Code::E0502, core_[post].span,
                                    "the gradient of this recurrence depends on the infinite future",
                                    "flows back from all later cycles: the state never restarts");
      explain_cycle(core_, find_cycle(graph_, comp.values, post, every_edge), d);
      explain_instance(core_, post, d);
      d.note(start_anew);
      return;
    }
    if (failure.kind != SegmentFailure::cut_waits) {
      auto& d =
          diagnostics_.report(Code::E0502, core_[post].span, told(core_, post) + " depends on the infinite future",
                              "no condition ends this dependence on the next cycle");
      explain_cycle(core_, find_cycle(graph_, comp.values, post, every_edge), d);
      explain_instance(core_, post, d);
      d.note(
          "end it with a condition that comes true again and again: `post_end(end, init, e)`, "
          "`backfill(e, c)`, or `if c then … else post …`");
      return;
    }
    const std::string cut = describe(core_, failure.cut.condition);
    auto& d = diagnostics_.report(Code::E0504, core_[failure.cut.condition].span,
                                  "`" + cut + "` should end the dependence on later cycles, but is known only after it",
                                  "this condition itself depends on later cycles");
    explain_cycle(core_, find_cycle(graph_, comp.values, failure.cut.condition, every_edge), d);
    d.note("use a condition that depends on inputs and earlier values only");
  }

  static std::string text_of(const Core& core, Literal l) {
    return (l.positive ? "`" : "`not ") + describe(core, l.condition) + "`";
  }

  void report_stop(const Core& core, Literal end, const Recurrence& r) {
    auto& d = diagnostics_.report(
        Code::E0503, core[end.condition].span,
        text_of(core, end) + (r.since == 0 ? " never comes true"
                                           : " does not come true again after cycle " + std::to_string(r.since - 1)),
        "this condition ends every dependence on later cycles here");
    d.note("it depends on no input, so this happens in every run; values that wait for it are never known");
  }

  void tell_recurrence(const Core& core, Literal end, const Recurrence& r) {
    const std::string cut = text_of(core, end);
    add(r.kind == Recurrence::recurs
            ? "productive: " + cut + " comes true at least every " + std::to_string(r.period) + " cycles"
            : "productive if " + cut + " keeps coming true");
  }

  void add(std::string text) {
    if (std::ranges::find(result_.assumptions, text) == result_.assumptions.end())
      result_.assumptions.push_back(std::move(text));
  }

  const Core& core_;
  const std::shared_ptr<const Core> whole_;
  const DependenceGraph graph_;
  Diagnostics& diagnostics_;
  Productivity result_;
  std::optional<Knowable> knowable_;  // computed at first use
};

}  // namespace

Productivity check_productivity(const Core& core, Diagnostics& diagnostics) {
  return Check(std::make_shared<const Core>(prune_undemanded(core)), diagnostics).run();
}

}  // namespace rml
