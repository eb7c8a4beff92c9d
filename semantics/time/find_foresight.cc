// Computes the largest sum of steps to each value by relaxation. A path without repetition has at
// most as many steps as there are fby and post, so sums are limited to that number; this ends the
// search on cycles.
//
// The rows at which a condition holds are the ends of segments. A search for one such condition
// tracks more than the sum about the row p that the path has reached (`Knowledge`): a value on
// the condition's clock is present only where the condition holds.
#include "semantics/time/find_foresight.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>

#include "semantics/core/queries.h"

namespace rml {
namespace {

// Facts about the row p that the path has reached, relative to the ends of segments.
enum Knowledge : std::uint8_t {
  nothing_known,   // position p of a needed row: at most the sum of steps
  segment_begins,  // as nothing_known, and p begins a segment: the row before it, if any, is an end
  first_row,       // as `nothing_known`, but p is the first row of the run
  before_an_end,   // some end is at most the sum of steps, and p is at most that end
  within_segment,  // as `before_an_end`, but p is not an end
  count_of_knowledge
};

class Search {
 public:
  // Prepares a search. `end` is a condition on the base clock; if it is invalid, ends are not
  // known.
  Search(const Core& core, ValueId from, ValueId end) : core_(core), end_(end), states_(core.values.size()) {
    bound_ = 1 + std::ranges::count_if(core.values, steps);
    relax({}, from, nothing_known, 0);
    while (!work_.empty()) {
      const auto [v, known] = work_.front();
      work_.pop_front();
      states_[v.index][known].waits = false;
      follow(v, known);
    }
  }

  // The largest sum of steps on a path to the value.
  std::int64_t reached(ValueId v) const { return std::ranges::max(states_[v.index], {}, &State::reached).reached; }

  std::vector<ValueId> way_to(ValueId input) const {
    std::vector<ValueId> way;
    std::vector<bool> seen(core_.values.size());
    const auto last = std::ranges::max_element(states_[input.index], {}, &State::reached);
    Place at{input, static_cast<Knowledge>(last - states_[input.index].begin())};
    for (; at.value.valid() && !seen[at.value.index]; at = states_[at.value.index][at.known].before) {
      seen[at.value.index] = true;
      way.push_back(at.value);
    }
    std::ranges::reverse(way);
    return way;
  }

 private:
  static constexpr std::int64_t unreached = std::numeric_limits<std::int64_t>::min();

  struct Place {
    ValueId value;
    Knowledge known = nothing_known;
  };
  struct State {
    std::int64_t reached = unreached;
    Place before;
    bool waits = false;
  };

  static bool steps(const Value& v) {
    return std::holds_alternative<core::Fby>(v.rhs) || std::holds_alternative<core::Post>(v.rhs);
  }

  void follow(ValueId v, Knowledge known) {
    const Value& value = core_[v];
    const Place here{v, known};
    const std::int64_t at = states_[v.index][known].reached;
    for (const ClockId c : ancestors(core_, value.clock)) relax(here, core_[c].condition, known, at);
    if (const auto* delay = std::get_if<core::Fby>(&value.rhs)) {
      relax(here, delay->init, known, at);
      if (known == before_an_end || known == within_segment)
        relax(here, delay->next, before_an_end, at);
      else if (known != first_row)  // unless it is the first row of the run, which has no row before it
        relax(here, delay->next, known == segment_begins ? before_an_end : nothing_known, at - 1);
    } else if (const auto* look = std::get_if<core::Post>(&value.rhs)) {
      if (value.clock != base_clock)
        relax(here, look->operand, nothing_known, bound_);
      else if (known == within_segment)
        relax(here, look->operand, before_an_end, at);
      else
        relax(here, look->operand, nothing_known, at + 1);
    } else {
      for_each_operand(value.rhs, [&](ValueId o) { relax(here, o, known, at); });
    }
  }

  // Adds the facts about the row that follow from the presence of the value.
  Knowledge with_clock(ValueId v, Knowledge known) const {
    for (const ClockId c : ancestors(core_, core_[v].clock)) {
      const Clock& clock = core_[c];
      if (clock.condition == end_ && clock.positive && known < before_an_end) return before_an_end;
      if (clock.condition == end_ && !clock.positive && known == before_an_end) return within_segment;
      if (clock.positive && known < first_row && is_first_row(clock.condition)) return first_row;
      if (clock.positive && known == nothing_known && begins_segment(clock.condition)) return segment_begins;
    }
    return known;
  }

  bool is_first_row(ValueId v) const { return core_[v].clock == base_clock && is_start(core_, v); }
  // True for `true fby end`.
  bool begins_segment(ValueId v) const {
    const auto* delay = std::get_if<core::Fby>(&core_[v].rhs);
    return delay != nullptr && end_.valid() && core_[v].clock == base_clock && delay->next == end_ &&
           constant_truth(core_, delay->init) == true;
  }

  void relax(Place from, ValueId to, Knowledge known, std::int64_t sum) {
    known = with_clock(to, known);
    sum = std::min(sum, bound_);
    State& state = states_[to.index][known];
    if (sum <= state.reached || sum < -bound_) return;
    state.reached = sum;
    state.before = from;
    if (!state.waits) work_.push_back({to, known});
    state.waits = true;
  }

  const Core& core_;
  const ValueId end_;
  std::int64_t bound_ = 0;
  std::vector<std::array<State, count_of_knowledge>> states_;
  std::deque<Place> work_;
};

// The conditions that may end segments: those that sample the base clock.
std::vector<ValueId> ends_of_segments(const Core& core) {
  std::vector<ValueId> found;
  for (const Clock& c : core.clocks)
    if (c.parent == base_clock && std::ranges::find(found, c.condition) == found.end()) found.push_back(c.condition);
  return found;
}

}  // namespace

std::vector<Foresight> find_foresight(const Core& core, ValueId value) {
  const Search plain(core, value, {});
  std::vector<Foresight> found;
  for (const Port& p : core.inputs)
    if (const std::int64_t at = plain.reached(p.value); at >= 0)
      found.push_back({p.value, plain.way_to(p.value), at > 0});
  if (found.empty()) return found;
  for (const ValueId end : ends_of_segments(core)) {
    const Search informed(core, value, end);
    std::erase_if(found, [&](const Foresight& f) { return informed.reached(f.input) < 0; });
  }
  return found;
}

}  // namespace rml
