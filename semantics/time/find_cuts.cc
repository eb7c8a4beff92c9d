// First tries the literals that guard posts. If components remain, computes their need functions
// and writes those that improve the cut.
#include "semantics/time/find_cuts.h"

#include <algorithm>

#include "semantics/time/need_functions.h"
#include "semantics/time/offsets.h"
#include "semantics/time/write_function.h"

namespace rml {

namespace {

using Function = BooleanFunctions::Function;

bool assumes(const SegmentPlan& plan) { return !plan.only_at_cut.empty() || !plan.awaiting.empty(); }

class CutsByNeed {
 public:
  CutsByNeed(std::shared_ptr<const Core> core, const DependenceGraph& graph, const Components& components, Ends ends)
      : core_(*core), graph_(graph), components_(components), ends_(ends) {
    found_.core = std::move(core);
  }

  Cuts run(const std::vector<std::uint32_t>& segmented) {
    for (const std::uint32_t c : segmented) {
      result(c) = find_cut(graph_, components_, c);
      if (ends_ == Ends::by_need || !result(c).plan || assumes(*result(c).plan)) segmented_.push_back(c);
    }
    if (segmented_.empty()) return std::move(found_);
    std::vector<Literal> literals;
    for (const auto& [first, result] : found_.plans)
      if (result.plan) literals.push_back(result.plan->cut);
    NeedFunctions need(graph_, components_, literals);
    if (need.known()) write(need);
    if (!written_.empty()) plan_written();
    return std::move(found_);
  }

 private:
  SegmentResult& result(std::uint32_t component) { return found_.plans[components_.list[component].values[0]]; }

  ValueId post_of(std::uint32_t component) const {
    return *std::ranges::find_if(components_.list[component].values,
                                 [&](ValueId v) { return std::holds_alternative<core::Post>(core_[v].rhs); });
  }

  void write(NeedFunctions& need) {
    Core core = core_;
    FunctionWriter writer(core, need);
    for (const std::uint32_t c : segmented_) {
      const ClockId clock = components_.list[c].clock;
      const std::optional<SegmentPlan>& literal = result(c).plan;
      // Prefers conditions known in their own cycle, if there are any: later ones would delay
      // rows.
      const Function whole = need.open(c);
      Function open = need.without_component(whole, c, false);
      if (literal && !assumes(*literal)) {
        const Function goes_on = need.functions().negation(need.holds(literal->cut, clock));
        if (goes_on == whole) continue;
        open = need.functions().both(open, goes_on);
        if (open == goes_on) continue;
      } else if (open == BooleanFunctions::yes) {
        open = need.without_component(whole, c, true);
      }
      if (!need.known()) break;
      if (open == BooleanFunctions::yes || open == BooleanFunctions::no) continue;
      written_.emplace_back(c, writer.write(need.functions().negation(open), clock, post_of(c)));
    }
    if (need.known() && !written_.empty()) found_.core = std::make_shared<const Core>(std::move(core));
    if (!need.known()) written_.clear();
  }

  void plan_written() {
    std::vector<ValueId> ends;
    for (const auto& [c, cut] : written_) ends.push_back(cut);
    const DependenceGraph graph(*found_.core, ends);
    const Components components = find_components(graph);
    for (const auto& [c, cut] : written_) {
      const std::uint32_t now = components.of[components_.list[c].values[0].index];
      auto plan = plan_under(graph, components, now, {{cut, true}, {}, true});
      if (!plan || (result(c).plan && assumes(*plan) && !assumes(*result(c).plan))) continue;
      result(c).plan = std::move(plan);
      found_.ends.push_back(cut);
    }
  }

  const Core& core_;
  const DependenceGraph& graph_;
  const Components& components_;
  const Ends ends_;
  Cuts found_;
  std::vector<std::uint32_t> segmented_;  // components that must be computed segment by segment
  // Components whose cut was written as an equation, and that equation's value.
  std::vector<std::pair<std::uint32_t, ValueId>> written_;
};

}  // namespace

Cuts find_cuts(std::shared_ptr<const Core> core, const DependenceGraph& graph, const Components& components, Ends ends,
               const std::vector<std::uint32_t>* wanted) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t c = 0; wanted == nullptr && c < components.list.size(); ++c)
    if (components.list[c].cyclic && has_post(*core, components.list[c])) all.push_back(c);
  return CutsByNeed(std::move(core), graph, components, ends).run(wanted == nullptr ? all : *wanted);
}

}  // namespace rml
