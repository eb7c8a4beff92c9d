// Validates a schedule against the core's equations, independently of the scheduler: it shares no analysis with the
// scheduler except the queries of queries.h, which hold for any core.
//
// Static checks cover every unit. Each value is computed once, by the unit that it belongs to. A unit reads only listed
// operands, which are inputs or values of earlier units, with conditions before the values that they sample. Streams
// skip as many elements as there are posts. An operand determines when a unit's clock ticks. The leading sweep knows
// the cut before any test for the segment's end.
//
// Whether needed values are computed in time depends on where conditions hold. That is tested in worlds
// (boolean_world.h): beginnings of runs with drawn letters. needs.h determines which Booleans a run needs. Segments of
// one to four instants are swept in them as the schedule says (validate_segments.h). A value that is computed before a
// value that it mentions must never need it. An operand that a unit does not wait for must not be needed there. Up to
// three letters are tested with all short sequences, more letters with a fixed sample. A program whose units all
// compute operands first needs no world.
#include "lowering/schedule/check/validate_schedule.h"

#include <algorithm>
#include <map>

#include "lowering/schedule/check/validate_segments.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

constexpr std::uint32_t worlds = 4;

class Validator {
 public:
  explicit Validator(const Schedule& s) : s_(s), core_(*s.core), known_(core_.values.size(), UINT32_MAX) {}

  std::string run() {
    check_sizes();
    if (error_.empty()) check_coverage();
    if (error_.empty()) check_sources();
    if (error_.empty()) check_results();
    if (error_.empty()) check_delayed();
    if (error_.empty()) find_streams();
    for (std::uint32_t u = 0; u < s_.units.size() && error_.empty(); ++u) check_unit(u);
    if (error_.empty() && s_.straight) check_straight();
    if (error_.empty()) try_worlds();
    return error_;
  }

 private:
  struct Early {  // a value that mentions another one before that one is computed
    ValueId user, on;
  };

  void fail(const std::string& text) {
    if (error_.empty()) error_ = text;
  }
  std::string name(ValueId v) const { return "%" + std::to_string(v.index) + " (" + describe(core_, v) + ")"; }
  bool member(ValueId v, std::uint32_t unit) const { return s_.unit_of[v.index] == unit; }

  void check_sizes() {
    if (s_.unit_of.size() != core_.values.size() || s_.sources.size() != core_.values.size())
      fail("the schedule is of another core");
    for (std::size_t u = 0; u < s_.units.size(); ++u) {
      if (s_.units[u].values.empty()) fail("unit " + std::to_string(u) + " computes nothing");
      if (s_.units[u].needed.size() != s_.units[u].operands.size())
        fail("unit " + std::to_string(u) + " is incomplete");
    }
  }

  void check_coverage() {
    std::vector<bool> listed(core_.values.size());
    for (std::uint32_t u = 0; u < s_.units.size(); ++u)
      for (const ValueId v : s_.units[u].values) {
        if (s_.unit_of[v.index] != u) return fail(name(v) + " is listed in another unit than its own");
        if (listed[v.index]) return fail(name(v) + " is computed twice");
        if (core_.is_const(v) || s_.is_base_input(v)) return fail(name(v) + " needs no unit");
        listed[v.index] = true;
      }
    for (std::size_t i = 0; i < core_.values.size(); ++i)
      if (s_.unit_of[i] != Schedule::nowhere && !listed[i]) return fail(name(ValueId{i}) + " is not in its unit");
  }

  // Checks sources: a stream that skips elements must be that of the same number of posts.
  void check_sources() {
    for (std::size_t i = 0; i < core_.values.size(); ++i) {
      const StreamSource& source = s_.sources[i];
      ValueId at{i};
      for (std::uint32_t k = 0; k < source.skip; ++k) {
        const auto* p = std::get_if<core::Post>(&core_[at].rhs);
        if (p == nullptr) return fail(name(ValueId{i}) + " skips more elements than it has posts");
        at = p->operand;
      }
      if (at != source.value) return fail(name(ValueId{i}) + " does not read the stream that its posts determine");
      if (source.skip > 0 && s_.unit_of[i] != Schedule::nowhere)
        return fail(name(ValueId{i}) + " is computed, and read as another stream");
    }
  }

  // Outputs and memories must be computed, and so must values that may stop the run, wherever they are present.
  void check_results() {
    const auto check = [&](ValueId v) {
      const ValueId from = s_.sources[v.index].value;
      if (core_[v].clock == never_clock || core_.is_const(from) || s_.is_base_input(from)) return;
      if (s_.unit_of[from.index] == Schedule::nowhere) fail(name(v) + " is not computed by any unit");
    };
    for (const ValueId v : results(core_)) check(v);
    for (const ValueId v : failing(core_))
      if (const ValueId from = s_.sources[v.index].value;
          s_.unit_of[from.index] == Schedule::nowhere && !core_.is_const(from) && !s_.is_base_input(from))
        unplaced_.push_back(v);
  }

  void check_delayed() {
    for (std::uint32_t i = 0; i < s_.delayed.size(); ++i)
      if (s_.delayed[i] && !hands_out_next(ValueId{i}))
        return fail(name(ValueId{i}) + " is not handed out by the unit of its next value");
  }

  // True for a fby with a constant first value, whose next value its own unit computes.
  bool hands_out_next(ValueId v) const {
    const auto* f = std::get_if<core::Fby>(&core_[v].rhs);
    if (f == nullptr || !core_.is_const(f->init)) return false;
    const std::uint32_t unit = s_.unit_of[v.index];
    return unit != Schedule::nowhere && !s_.units[unit].segmented && member(f->next, unit);
  }

  void find_streams() {
    streams_.resize(core_.values.size());
    for (const ScheduledUnit& unit : s_.units)
      for (const ValueId v : unit.operands) streams_[s_.sources[v.index].value.index] = true;
  }

  void check_unit(std::uint32_t u) {
    check_operands(u);
    if (error_.empty()) check_clock(u);
    if (error_.empty()) check_mentions(u);
    if (!error_.empty()) return;
    if (s_.units[u].segmented)
      check_plan(u);
    else
      check_order(u);
  }

  void check_operands(std::uint32_t u) {
    const ScheduledUnit& unit = s_.units[u];
    for (std::size_t k = 0; k < unit.operands.size(); ++k) {
      const ValueId v = unit.operands[k];
      const ValueId source = s_.sources[v.index].value;
      const std::uint32_t from = s_.unit_of[source.index];
      if (member(v, u) || is_known(v, u)) return fail(name(v) + " is an operand, but the unit knows it already");
      if (!s_.is_delayed(source) && !s_.is_base_input(source) && from >= u)
        return fail(name(v) + " is read before its unit has run");
      if (!within(core_, core_[v].clock, unit.clock)) return fail(name(v) + " is not on the unit's clock");
      if (unit.is_belated(v) && !may_be_belated(unit, v)) return fail(name(v) + " does not come with the next instant");
      for (const ClockId c : ancestors(core_, core_[v].clock, unit.clock))
        if (const ValueId on = core_[c].condition; !is_known(on, u) || conditional(u, on))
          return fail(name(v) + " comes before a condition of its clock");
      for (const Literal& l : unit.needed[k])
        if (!is_known(l.condition, u) || core_[l.condition].clock != core_[v].clock)
          return fail(name(v) + " is awaited under a condition that the unit does not know");
      conditional_ = conditional_ || !unit.needed[k].empty();
      known_[v.index] = u;
    }
  }

  // True if the operand is a post that is present at each instant of the unit, so that the next instant brings it.
  bool may_be_belated(const ScheduledUnit& unit, ValueId v) const {
    const auto* p = std::get_if<core::Post>(&core_[v].rhs);
    return unit.segmented && core_[v].clock == unit.clock && p != nullptr && s_.sources[v.index].skip > 0;
  }

  bool is_known(ValueId v, std::uint32_t u) const { return known_[v.index] == u; }
  // True for an operand that is not always waited for.
  bool conditional(std::uint32_t u, ValueId v) const {
    const ScheduledUnit& unit = s_.units[u];
    const auto at = std::ranges::find(unit.operands, v);
    return at != unit.operands.end() && !unit.needed[static_cast<std::size_t>(at - unit.operands.begin())].empty();
  }

  // On a sampled clock, some operand must arrive at each instant. A unit that takes inputs from the caller must run at
  // every cycle.
  void check_clock(std::uint32_t u) {
    const ScheduledUnit& unit = s_.units[u];
    for (const ValueId v : unit.values) {
      if (!within(core_, core_[v].clock, unit.clock)) return fail(name(v) + " is not on its unit's clock");
      if (std::holds_alternative<core::Input>(core_[v].rhs) && unit.clock != base_clock)
        return fail(name(v) + " is not read at every cycle");
      if (!streams_[v.index]) continue;
      for (const ClockId c : ancestors(core_, core_[v].clock, unit.clock))
        if (conditional(u, core_[c].condition))
          return fail(name(v) + " is handed out on a clock that is not always known");
    }
    const auto drives = [&](ValueId v) { return core_[v].clock == unit.clock && !s_.is_delayed(v); };
    if (unit.clock != base_clock && std::ranges::none_of(unit.operands, drives))
      fail("no operand says when the unit of " + name(unit.values[0]) + " advances");
  }

  // Each value that is mentioned must be a constant, an operand, or computed by the unit.
  void check_mentions(std::uint32_t u) {
    const ScheduledUnit& unit = s_.units[u];
    const auto check = [&](ValueId v) {
      if (!core_.is_const(v) && !member(v, u) && !is_known(v, u))
        fail(name(v) + " is not read by a unit that needs it");
    };
    for (const ValueId v : unit.values) {
      for_each_operand(core_[v].rhs, check);
      for (const ClockId c : ancestors(core_, core_[v].clock, unit.clock)) check(core_[c].condition);
    }
    if (!unit.segmented) return;
    check(unit.plan.cut.condition);
    for (const Literal& l : unit.plan.only_at_cut) check(l.condition);
  }

  // A value that is mentioned before it is computed must never be needed there.
  void check_order(std::uint32_t u) {
    const ScheduledUnit& unit = s_.units[u];
    for (const ValueId v : unit.values) {
      const core::Rhs& rhs = core_[v].rhs;
      if (std::holds_alternative<core::Post>(rhs)) return fail(name(v) + " looks ahead in a forward unit");
      const auto look = [&](ValueId on) {
        if (!core_.is_const(on) && !is_known(on, u)) early_.push_back({v, on});
      };
      if (core_[v].clock != unit.clock) look(core_[core_[v].clock].condition);
      if (const auto* f = std::get_if<core::Fby>(&rhs))
        look(f->init);
      else
        for_each_operand(rhs, look);
      known_[v.index] = u;
    }
  }

  void check_plan(std::uint32_t u) {
    const ScheduledUnit& unit = s_.units[u];
    segmented_ = true;
    check_cut(unit);
    if (unit.plan.sweeps.empty() || unit.plan.sweeps[0].backward) return fail("the leading sweep runs backward");
    std::vector<std::uint8_t> classes(core_.values.size());
    for (const SweepPlan& sweep : unit.plan.sweeps)
      for (const SweepItem& i : sweep.items) {
        if (!member(i.value, u)) return fail(name(i.value) + " is computed by another unit than its own");
        if ((classes[i.value.index] & i.classes) != 0 || i.classes == 0)
          return fail(name(i.value) + " is computed twice, or never");
        classes[i.value.index] |= i.classes;
      }
    for (const SweepPlan& sweep : unit.plan.sweeps) check_calls(sweep);
    for (const auto& [v, zero] : unit.idle)
      if (!member(v, u) || classes[v.index] != 0 || !zero.valid() || !core_.is_const(zero))
        return fail(name(v) + " is both idle and computed");
    check_leading(u);
  }

  // The results of a call must be computed in the sweep of the call, because the call itself is not kept for later
  // sweeps.
  void check_calls(const SweepPlan& sweep) {
    std::map<ValueId, std::uint8_t> calls;
    for (const SweepItem& i : sweep.items) {
      if (std::holds_alternative<core::Call>(core_[i.value].rhs)) calls[i.value] |= i.classes;
      const auto* r = std::get_if<core::Result>(&core_[i.value].rhs);
      if (r != nullptr && (i.classes & ~calls[r->call]) != 0)
        return fail(name(i.value) + " is not computed together with its call");
    }
  }

  void check_cut(const ScheduledUnit& unit) {
    const Literal found = unit.plan.cut;
    if (found.positive ? unit.cut == found.condition
                       : unit.cut.valid() && unit.cut != found.condition && negates(unit.cut, found.condition))
      return;
    fail("the cut is not the condition that ends segments");
  }
  bool negates(ValueId v, ValueId of) const {
    const core::Apply* a = apply_of(core_, v, "logical_not");
    return a != nullptr && a->operands[0] == of;
  }

  // The leading sweep must compute the cut before it tests whether the segment ends.
  void check_leading(std::uint32_t u) {
    const ScheduledUnit& unit = s_.units[u];
    const ValueId cut = unit.plan.cut.condition;
    const auto whole = [&](ValueId v) {
      std::uint8_t found = 0;
      for (const SweepItem& i : unit.plan.sweeps[0].items) found |= i.value == v ? i.classes : 0;
      return !member(v, u) || found == any_instant;
    };
    if (!whole(cut)) return fail("the leading sweep does not compute the cut " + name(cut));
    for (const Literal& l : unit.plan.only_at_cut)
      for (std::size_t p = 1; p < unit.plan.sweeps.size(); ++p)
        for (const SweepItem& i : unit.plan.sweeps[p].items)
          if (i.value == l.condition) return fail(name(l.condition) + " is read before it is known");
    bool known = !member(cut, u);
    for (const SweepItem& i : unit.plan.sweeps[0].items) {
      known = known || i.value == cut;
      const auto differ = [&](std::uint8_t a, std::uint8_t b) {
        return ((i.classes & a) != 0) != ((i.classes & b) != 0);
      };
      if (!known && (differ(first_instant, single_instant) || differ(interior_instant, last_instant)))
        return fail(name(i.value) + " depends on the end of the segment before it is known");
    }
  }

  void check_straight() {
    const bool fits = s_.units.size() <= 1 && std::ranges::all_of(s_.units, [&](const ScheduledUnit& u) {
                        return !u.segmented && u.clock == base_clock &&
                               std::ranges::all_of(u.operands, [&](ValueId v) { return s_.is_base_input(v); });
                      });
    if (!fits || std::ranges::any_of(core_.outputs, [&](const Port& o) { return s_.sources[o.value.index].skip > 0; }))
      fail("a program whose rows wait is marked as straight");
  }

  void try_worlds() {
    if (early_.empty() && unplaced_.empty() && !segmented_ && !conditional_) return;
    const BooleanOrder order(core_, conditions());
    for (std::uint32_t k = 0; k < worlds && error_.empty(); ++k) {
      const auto broken = [&](const BooleanWorld& world, int cycle) {
        return std::ranges::any_of(
            s_.units, [&](const ScheduledUnit& u) { return breaks_assumption(core_, world, u, cycle, k % 2 == 1); });
      };
      const BooleanWorld world(order, k, broken);
      const Needs needs(core_, world);
      check_early(needs);
      for (const ValueId v : unplaced_)
        if (needs.of(v) != 0) fail(name(v) + " is not computed by any unit");
      for (std::uint32_t u = 0; u < s_.units.size() && error_.empty(); ++u) {
        if (s_.units[u].segmented) fail_if(validate_segments(s_, u, world, needs));
        check_waits(u, world, needs);
      }
    }
  }
  void fail_if(const std::string& text) {
    if (!text.empty()) fail(text);
  }

  // All conditions that the schedule refers to.
  std::vector<ValueId> conditions() const {
    std::vector<ValueId> all;
    for (const ScheduledUnit& u : s_.units) {
      for (const auto& literals : u.needed)
        for (const Literal& l : literals) all.push_back(l.condition);
      if (!u.segmented) continue;
      all.push_back(u.plan.cut.condition);
      for (const Literal& l : u.plan.only_at_cut) all.push_back(l.condition);
    }
    return all;
  }

  void check_early(const Needs& needs) {
    for (const auto& [user, on] : early_)
      needs.within_cycle(user, needs.of(user), [&, on = on, user = user](ValueId v, Cycles where) {
        if (v == on && where != 0) fail(name(user) + " is computed before " + name(on));
      });
  }

  // A unit must not need an operand where it does not wait for it.
  void check_waits(std::uint32_t u, const BooleanWorld& world, const Needs& needs) {
    const ScheduledUnit& unit = s_.units[u];
    for (std::size_t k = 0; k < unit.operands.size(); ++k) {
      if (unit.needed[k].empty()) continue;
      Cycles looked_at = 0;
      for (const ValueId v : unit.values)
        needs.within_cycle(v, needs.of(v), [&](ValueId on, Cycles where) {
          if (on == unit.operands[k]) looked_at |= where;
        });
      for (const Literal& l : unit.needed[k])
        if ((looked_at & (l.positive ? world.no(l.condition) : world.yes(l.condition))) != 0)
          return fail(name(unit.operands[k]) + " is not awaited where it is needed");
    }
  }

  const Schedule& s_;
  const Core& core_;
  std::vector<std::uint32_t> known_;  // indexed by ValueId: the last unit that knew it
  std::vector<bool> streams_;         // one per ValueId: true if some unit reads its stream
  std::vector<Early> early_;
  std::vector<ValueId> unplaced_;  // values that may stop a run and that no unit computes
  bool segmented_ = false, conditional_ = false;
  std::string error_;
};

}  // namespace

std::string validate(const Schedule& s) { return Validator(s).run(); }

}  // namespace rml
