// The validator knows the core's equations and nothing of how the schedule was found.
//
// Units: every needed value is computed by exactly one unit, and a unit reads from elsewhere
// only what an earlier unit computes or an input. Forward units: an abstract run of one
// instant, in which every operand must already be there. Segmented units: abstract runs over
// three segments of every length up to 4, pass by pass and instant by instant, in which what
// a value needs at the same, the previous or the next instant must already be there, unless
// the class of the instant excludes the need; at the end every needed value must be there.
#include "lowering/schedule/validate_schedule.h"

#include <algorithm>
#include <map>
#include <set>

#include "semantics/queries.h"

namespace rml {

namespace {

class Validator {
 public:
  explicit Validator(const Schedule& s) : s_(s), core_(*s.core), graph_(core_) {}

  std::string run() {
    check_coverage();
    for (const ScheduledUnit& unit : s_.units)
      for (ValueId v : unit.operands) streams_.insert(s_.sources[v.index].value);
    for (std::uint32_t u = 0; u < s_.units.size() && error_.empty(); ++u) {
      check_operands(u);
      if (s_.units[u].segmented)
        check_segmented(u);
      else
        check_forward(u);
    }
    return error_;
  }

 private:
  void fail(const std::string& text) {
    if (error_.empty()) error_ = text;
  }
  std::string name(ValueId v) const { return "%" + std::to_string(v.index) + " (" + describe(core_, v) + ")"; }
  bool computed(ValueId v) const {
    return !core_.is_const(v) && !s_.is_base_input(v) && s_.sources[v.index].value == v;
  }

  void check_coverage() {
    std::vector<int> times(core_.values.size());
    for (std::uint32_t u = 0; u < s_.units.size(); ++u)
      for (ValueId v : s_.units[u].values) {
        ++times[v.index];
        if (s_.unit_of[v.index] != u) fail(name(v) + " is listed in a unit that is not its own");
      }
    for (std::size_t i = 0; i < core_.values.size(); ++i) {
      const ValueId v{i};
      if (graph_.demand(v).never) continue;
      if (computed(v) ? times[i] != 1 : times[i] != 0)
        fail(name(v) + " is computed " + std::to_string(times[i]) + " times");
    }
  }

  // Streams that posts read: the same value, one element further for each post.
  void check_operands(std::uint32_t u) {
    const ScheduledUnit& unit = s_.units[u];
    std::set<ValueId> seen, waited;
    for (std::size_t k = 0; k < unit.operands.size(); ++k) {
      const ValueId v = unit.operands[k];
      for (const Literal& l : unit.needed[k])
        if (!seen.contains(l.condition) || core_[l.condition].clock != core_[v].clock || !graph_.demand(v).contains(l))
          return fail(name(v) + " is not waited for where it is needed");
      const StreamSource source = s_.sources[v.index];
      ValueId at = v;
      for (std::uint32_t k = 0; k < source.skip; ++k) {
        const auto* p = std::get_if<core::Post>(&core_[at].rhs);
        if (p == nullptr) return fail(name(v) + " skips more elements than it has posts");
        at = p->operand;
      }
      if (at != source.value) return fail(name(v) + " reads another stream than its posts say");
      const std::uint32_t from = s_.unit_of[source.value.index];
      if (s_.is_delayed(source.value)      ? !is_memory_of(from, source.value)
          : s_.is_base_input(source.value) ? from != Schedule::nowhere
                                           : from >= u)
        return fail(name(v) + " is read before its unit has run");
      if (!within(core_, core_[v].clock, unit.clock)) return fail(name(v) + " is not on the unit's clock");
      for (ClockId c = core_[v].clock; c != unit.clock; c = core_[c].parent)
        if (!waited.contains(core_[c].condition)) return fail(name(v) + " comes before a condition of its clock");
      seen.insert(v);
      if (unit.needed[k].empty()) waited.insert(v);
    }
    for (ValueId v : unit.values) {
      if (!streams_.contains(v)) continue;
      for (ClockId c = core_[v].clock; c != unit.clock; c = core_[c].parent)
        if (seen.contains(core_[c].condition) && !waited.contains(core_[c].condition))
          return fail(name(v) + " is handed out on a clock that is not always known");
    }
  }

  // A fby that begins with a constant, whose next value this unit computes.
  bool is_memory_of(std::uint32_t unit, ValueId v) const {
    const auto* f = std::get_if<core::Fby>(&core_[v].rhs);
    return f != nullptr && core_.is_const(f->init) && unit < s_.units.size() && !s_.units[unit].segmented &&
           s_.unit_of[f->next.index] == unit;
  }

  void check_forward(std::uint32_t u) {
    const ScheduledUnit& unit = s_.units[u];
    std::set<ValueId> known(unit.operands.begin(), unit.operands.end());
    std::set<ValueId> members(unit.values.begin(), unit.values.end());
    for (ValueId v : unit.values) {
      if (std::holds_alternative<core::Post>(core_[v].rhs)) return fail(name(v) + " looks ahead in a forward unit");
      for (const Dependence& e : graph_.of(v)) {
        if (known.contains(e.on) || graph_.guard_of(v, e).never) continue;
        if (e.weight != 0 && members.contains(e.on)) continue;
        if (s_.straight && s_.is_base_input(e.on)) continue;
        // A unit on a sub-clock runs only where its condition held.
        if (core_[v].clock == unit.clock && unit.clock != base_clock && core_[unit.clock].condition == e.on) continue;
        return fail(name(v) + " is computed before " + name(e.on));
      }
      known.insert(v);
    }
  }

  static std::uint8_t class_of(int t, int length) {
    if (length == 1) return single_instant;
    return t == 0 ? first_instant : t == length - 1 ? last_instant : interior_instant;
  }

  void check_segmented(std::uint32_t u) {
    const ScheduledUnit& unit = s_.units[u];
    ClassFacts facts(graph_, unit.clock, unit.plan.cut, unit.plan.sides, unit.plan.only_at_cut);
    for (int length = 1; length <= 4 && error_.empty(); ++length) check_segment(unit, facts, length);
  }

  void check_segment(const ScheduledUnit& unit, ClassFacts& facts, int length) {
    const std::set<ValueId> members(unit.values.begin(), unit.values.end());
    std::set<std::pair<ValueId, int>> done;
    auto need = [&](ValueId v, const Dependence& e, int t) {
      if (!members.contains(e.on) || !facts.possible(graph_.guard_of(v, e), class_of(t, length))) return;
      const int at = t + e.weight;
      if (at < 0) return;  // an earlier segment, complete
      if (at >= length) return fail(name(v) + " needs " + name(e.on) + " beyond the end of its segment");
      if (facts.possible(graph_.demand(e.on), class_of(at, length)) && !done.contains({e.on, at}))
        fail(name(v) + " is computed before " + name(e.on) + " in a segment of " + std::to_string(length));
    };
    for (std::size_t p = 0; p < unit.plan.passes.size(); ++p) {
      const PassPlan& pass = unit.plan.passes[p];
      if (p == 0 && pass.backward) return fail("the leading pass runs backward");
      bool ended = false;
      for (int k = 0; k < length; ++k) {
        const int t = pass.backward ? length - 1 - k : k;
        ended = !members.contains(unit.plan.cut.condition);
        for (const PassItem& item : pass.items) {
          if ((item.classes & class_of(t, length)) == 0) continue;
          if (p == 0 && !ended && item.value != unit.plan.cut.condition && uneven(item.classes))
            return fail(name(item.value) + " asks whether the segment ends before that is known");
          for (const Dependence& e : graph_.of(item.value)) need(item.value, e, t);
          if (!done.insert({item.value, t}).second) return fail(name(item.value) + " is computed twice");
          ended |= item.value == unit.plan.cut.condition;
        }
        if (p == 0 && !ended && facts.possible(graph_.demand(unit.plan.cut.condition), class_of(t, length)))
          return fail("the leading pass does not compute the cut " + name(unit.plan.cut.condition));
      }
    }
    for (ValueId v : unit.values)
      for (int t = 0; t < length; ++t)
        if (facts.possible(graph_.demand(v), class_of(t, length)) && !done.contains({v, t}))
          return fail(name(v) + " is never computed at some instant of a segment");
  }

  static bool uneven(std::uint8_t c) {
    return ((c & first_instant) != 0) != ((c & single_instant) != 0) ||
           ((c & interior_instant) != 0) != ((c & last_instant) != 0);
  }

  const Schedule& s_;
  const Core& core_;
  DependenceGraph graph_;
  std::set<ValueId> streams_;  // read by some unit
  std::string error_;
};

}  // namespace

std::string validate(const Schedule& s) { return Validator(s).run(); }

}  // namespace rml
