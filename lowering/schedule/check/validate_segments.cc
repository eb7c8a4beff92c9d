// Finds the segments by the cut, from the first cycle on, and sweeps all segments of one length together, instant by
// instant, as the schedule says. A value is done at a set of cycles. Its operands must be done before: at the same
// cycle, or at the previous or the next tick of its clock. Earlier segments are done completely, later ones not at all.
#include "lowering/schedule/check/validate_segments.h"

#include <algorithm>

#include "semantics/core/queries.h"

namespace rml {

namespace {

constexpr int longest = 4;

class SegmentsOfUnit {
 public:
  SegmentsOfUnit(const Schedule& s, std::uint32_t unit, const BooleanWorld& world, const Needs& needs)
      : s_(s), core_(*s.core), number_(unit), unit_(s.units[unit]), world_(world), needs_(needs) {
    find_segments();
  }

  std::string run() {
    if (!unit_.belated.empty()) check_leading();
    for (int length = 1; length <= longest && error_.empty(); ++length) {
      if (instants_[static_cast<std::size_t>(length)][0] == 0) continue;
      done_.assign(core_.values.size(), 0);
      for (const SweepPlan& sweep : unit_.plan.sweeps) run(sweep, length);
      check_complete(length);
    }
    return error_;
  }

 private:
  void fail(const std::string& text) {
    if (error_.empty()) error_ = text;
  }
  std::string name(ValueId v) const { return "%" + std::to_string(v.index) + " (" + describe(core_, v) + ")"; }
  bool member(ValueId v) const { return s_.unit_of[v.index] == number_; }

  void find_segments() {
    std::vector<int> segment;
    for (int t = 0; t < cycles_in_a_world; ++t) {
      const Cycles bit = Cycles{1} << t;
      if ((world_.absent(unit_.clock) & bit) != 0) continue;
      if ((world_.present(unit_.clock) & bit) == 0) return;
      segment.push_back(t);
      const Holds cut = holds(core_, world_, unit_.plan.cut, t);
      if (cut == Holds::unknown || !may_go_on(cut == Holds::yes, t)) return;
      if (cut != Holds::yes) continue;
      if (is_left_waiting(segment)) return;
      add(segment);
      segment.clear();
    }
  }

  // True if the assumptions about the instant are known to hold.
  bool may_go_on(bool last, int t) const {
    return last || std::ranges::all_of(unit_.plan.only_at_cut, [&](const Literal& l) {
             const Holds h = holds(core_, world_, l, t);
             return h == Holds::absent || h == Holds::no;
           });
  }

  // True if a post waits for an instant of its clock that the segment does not have. The schedule assumes that this
  // never happens before the end.
  bool is_left_waiting(const std::vector<int>& segment) const {
    return std::ranges::any_of(unit_.plan.awaiting, [&](const Awaiting& a) {
      return std::ranges::any_of(segment, [&](int t) {
        if (t == segment.back() || (needs_.of(a.post) >> t & 1) == 0) return false;
        const Neighbour next = world_.after(core_[a.post].clock, t);
        return next.kind != Neighbour::at || next.cycle > segment.back();
      });
    });
  }

  void add(const std::vector<int>& segment) {
    for (const int t : segment) {
      begin_[static_cast<std::size_t>(t)] = segment.front();
      end_[static_cast<std::size_t>(t)] = segment.back();
    }
    if (segment.size() > longest) return;
    for (std::size_t k = 0; k < segment.size(); ++k) instants_[segment.size()][k] |= Cycles{1} << segment[k];
  }

  // The leading sweep must not need belated operands, nor know whether another instant follows.
  void check_leading() {
    for (const SweepItem& i : unit_.plan.sweeps[0].items) {
      if (tells_last(i.classes)) fail(name(i.value) + " is computed before it is known whether the segment ends");
      needs_.within_cycle(i.value, needs_.of(i.value), [&](ValueId on, Cycles at) {
        if (unit_.is_belated(on) && at != 0) fail(name(i.value) + " is computed before " + name(on));
      });
    }
  }

  void run(const SweepPlan& sweep, int length) {
    for (int k = 0; k < length && error_.empty(); ++k) {
      const int instant = sweep.backward ? length - 1 - k : k;
      const Cycles now = instants_[static_cast<std::size_t>(length)][static_cast<std::size_t>(instant)];
      for (const SweepItem& i : sweep.items) {
        if ((i.classes & class_of(instant, length)) == 0) continue;
        check_item(i.value, needs_.of(i.value) & now, length);
        done_[i.value.index] |= now;
      }
    }
  }

  void check_item(ValueId v, Cycles needed, int length) {
    needs_.within_cycle(v, needed, [&](ValueId on, Cycles at) {
      if (member(on) && (at & world_.present(core_[on].clock) & ~done_[on.index]) != 0)
        fail(name(v) + " is computed before " + name(on) + " in a segment of " + std::to_string(length));
    });
    const core::Rhs& rhs = core_[v].rhs;
    const auto* post = std::get_if<core::Post>(&rhs);
    const auto* fby = std::get_if<core::Fby>(&rhs);
    if (post == nullptr && fby == nullptr) return;
    const ValueId other = post != nullptr ? post->operand : fby->next;
    for_each_cycle(needed, [&](int t) {
      const Neighbour at = post != nullptr ? world_.after(core_[v].clock, t) : world_.before(core_[v].clock, t);
      if (at.kind == Neighbour::unknown || (at.kind == Neighbour::none && post == nullptr)) return;
      if (post != nullptr && (at.kind == Neighbour::none || at.cycle > end_[static_cast<std::size_t>(t)]))
        return fail(name(v) + " needs " + name(other) + " beyond the end of its segment");
      if (at.cycle < begin_[static_cast<std::size_t>(t)] || !member(other)) return;
      if ((done_[other.index] >> at.cycle & 1) == 0)
        fail(name(v) + " is computed before " + name(other) + " at another instant of a segment of " +
             std::to_string(length));
    });
  }

  void check_complete(int length) {
    Cycles all = 0;
    for (const Cycles c : instants_[static_cast<std::size_t>(length)]) all |= c;
    for (const ValueId v : unit_.values)
      if ((needs_.of(v) & all & ~done_[v.index]) != 0)
        return fail(name(v) + " is not computed at every instant of a segment of " + std::to_string(length));
  }

  const Schedule& s_;
  const Core& core_;
  const std::uint32_t number_;
  const ScheduledUnit& unit_;
  const BooleanWorld& world_;
  const Needs& needs_;
  // One per cycle: bounds of the segment that contains it.
  std::array<int, cycles_in_a_world> begin_{}, end_{};
  // Indexed by length and instant: the cycles at that instant of a segment of that length.
  std::array<std::array<Cycles, longest>, longest + 1> instants_{};
  // One per ValueId: cycles at which it has been computed.
  std::vector<Cycles> done_;
  std::string error_;
};

}  // namespace

std::uint8_t class_of(int k, int length) {
  if (length == 1) return single_instant;
  return k == 0 ? first_instant : k == length - 1 ? last_instant : interior_instant;
}

Holds holds(const Core& core, const BooleanWorld& world, const Literal& l, int cycle) {
  const Cycles bit = Cycles{1} << cycle;
  if ((world.absent(core[l.condition].clock) & bit) != 0) return Holds::absent;
  if ((world.yes(l.condition) & bit) != 0) return l.positive ? Holds::yes : Holds::no;
  if ((world.no(l.condition) & bit) != 0) return l.positive ? Holds::no : Holds::yes;
  return Holds::unknown;
}

bool breaks_assumption(const Core& core, const BooleanWorld& world, const ScheduledUnit& unit, int cycle,
                       bool present) {
  if (!unit.segmented) return false;
  const Holds cut = holds(core, world, unit.plan.cut, cycle);
  if (cut == Holds::unknown) return false;
  const bool last = cut == Holds::yes;
  const auto leaves_waiting = [&](const Awaiting& a) { return (world.absent(core[a.post].clock) >> cycle & 1) != 0; };
  if (last && present && std::ranges::any_of(unit.plan.awaiting, leaves_waiting)) return true;
  return !last && std::ranges::any_of(unit.plan.only_at_cut,
                                      [&](const Literal& l) { return holds(core, world, l, cycle) == Holds::yes; });
}

std::string validate_segments(const Schedule& s, std::uint32_t unit, const BooleanWorld& world, const Needs& needs) {
  return SegmentsOfUnit(s, unit, world, needs).run();
}

}  // namespace rml
