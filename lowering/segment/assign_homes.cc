// Handles memories first. Then it finds which sweep reads which values, including the two blocks after the sweeps: the
// closing block (rows for others) and the commit. At last each value that another sweep reads gets a home.
#include "lowering/segment/assign_homes.h"

#include <algorithm>
#include <set>

#include "lowering/segment/coalesce.h"

namespace rml {

namespace {

// The sweep that can update a memory in its cell. It is the only one after the leading sweep that replays the memory,
// and runs forward. The leading sweep does not store to the cell, the memory's next value is known at all instants by
// then, and the cell holds the memory's value at the first instant.
std::optional<std::size_t> only_replay(const SegmentFacts& facts, const Segment& segment, ValueId v) {
  const auto& f = std::get<core::Fby>(facts.core()[v].rhs);
  if (!facts.is_here(f.next) || !(facts.core().is_const(f.init) || facts.is_parameter(v))) return std::nullopt;
  if (facts.computed_in(f.next, 0)) return std::nullopt;
  std::optional<std::size_t> found;
  std::uint8_t leading = 0;
  for (const auto& place : facts.places(v)) {
    if (place.sweep == 0) {
      leading |= place.classes;
      continue;
    }
    if (found) return std::nullopt;
    found = place.sweep;
  }
  const bool from_first = (leading & (first_instant | single_instant)) == (first_instant | single_instant);
  if (!found || segment.sweeps[*found].backward) return std::nullopt;
  if (!from_first && !facts.core().is_const(f.init)) return std::nullopt;
  return facts.known_until(f.next, *found) == any_instant ? found : std::nullopt;
}

class Lookers {
 public:
  Lookers(const SegmentFacts& facts, const Segment& segment) : facts_(facts), core_(facts.core()), segment_(segment) {}

  Looks find() {
    for (const auto& [v, places] : facts_.places())
      for (const auto& place : places) look(v, place.sweep);
    for (std::size_t s = 0; s < segment_.sweeps.size(); ++s)
      for (const SweepItem& i : segment_.sweeps[s].items) look_at_operands(i.value, s);
    at_the_end();
    for (const Awaiting& a : facts_.unit().plan.awaiting)
      for (const auto& place : facts_.places(a.post))
        for (const std::vector<Literal>& where : facts_.demands(a, place.sweep))
          for (const Literal& l : where) look(l.condition, place.sweep);
    return std::move(looks_);
  }

 private:
  void look(ValueId v, std::size_t sweep) {
    if (!facts_.is_here(v)) return;
    looks_[v].insert(sweep);
    for (const Literal& l : facts_.clock(v))
      if (facts_.is_here(l.condition)) looks_[l.condition].insert(sweep);
  }

  void look_at_operands(ValueId v, std::size_t sweep) {
    const auto* f = std::get_if<core::Fby>(&core_[v].rhs);
    if (f == nullptr) return facts_.for_each_operand(v, [&](ValueId o) { look(o, sweep); });
    if (sweep == 0 || segment_.memories.at(v).in_place != sweep) look(f->init, sweep);
    if (sweep > 0) look(f->next, sweep);
  }

  void at_the_end() {
    const std::size_t closing = segment_.sweeps.size(), commit = closing + 1;
    for (const auto& [v, places] : facts_.places())
      if (facts_.is_member(v) && facts_.handed_out(v) && !facts_.only_in(v, 0)) look(v, closing);
    for (const auto& [v, memory] : segment_.memories) {
      const ValueId next = std::get<core::Fby>(core_[v].rhs).next;
      const bool moves_at_end = !facts_.moves_in_leading(v) && !memory.in_place;
      if (moves_at_end) look(next, core_[next].clock == facts_.unit().clock ? commit : closing);
      if (moves_at_end && core_.is_const(next))
        for (const Literal& l : facts_.clock(v)) look(l.condition, closing);
    }
    for (const auto& [v, zero] : facts_.unit().idle)
      if (facts_.handed_out(v))
        for (const Literal& l : facts_.clock(v)) look(l.condition, closing);
  }

  const SegmentFacts& facts_;
  const Core& core_;
  const Segment& segment_;
  Looks looks_;
};

// False for a memory that these sweeps replay: they compute its value themselves.
bool is_looked_up(const SegmentFacts& facts, const Segment& segment, ValueId v, const std::set<std::size_t>& sweeps) {
  if (!segment.memories.contains(v)) return sweeps.size() > 1;
  return std::ranges::any_of(sweeps, [&](std::size_t s) { return s > 0 && !facts.computed_in(v, s); });
}

// True if all sweeps that read the memory run before its cell changes. A memory on the unit's clock changes in the
// commit, after all rows are handed out; another one changes in the closing block.
bool found_in_itself(const SegmentFacts& facts, const Segment& segment, ValueId v,
                     const std::set<std::size_t>& sweeps) {
  if (!facts.stands_still(v) || segment.memories.at(v).in_place) return false;
  const std::size_t moves = segment.sweeps.size() + (facts.core()[v].clock == facts.unit().clock ? 1 : 0);
  return *sweeps.rbegin() < moves;
}

Home home_of(const SegmentFacts& facts, const Segment& segment, const Coalesced& shared, ValueId v,
             const std::set<std::size_t>& sweeps) {
  if (const auto at = shared.found_in.find(v); at != shared.found_in.end()) return {Home::memory, at->second};
  if (const auto at = shared.stored_in.find(v); at != shared.stored_in.end()) return {Home::next, at->second};
  if (const ValueId f = facts.holder(v); f.valid()) return {Home::memory, f};
  if (found_in_itself(facts, segment, v, sweeps)) return {Home::memory, v};
  const auto product = segment.products.find(v);
  const bool one = facts.computed_last_only(v) || facts.present_once(v) ||
                   (product != segment.products.end() && product->second.sum);
  return {one ? Home::cell : Home::array, {}};
}

}  // namespace

Segment assign_homes(const Schedule& schedule, const Streams& streams, const Segment& planned) {
  Segment segment = planned;
  const SegmentFacts facts(schedule, streams, planned);
  for (auto& [v, memory] : segment.memories) {
    memory.in_place = only_replay(facts, planned, v);
    memory.begins = !facts.only_in(v, 0) && !memory.in_place;
  }
  const Looks looks = Lookers(facts, segment).find();
  const Coalesced shared = coalesce(facts, segment, looks);
  for (const auto& [v, owner] : shared.found_in)
    if (const auto at = segment.memories.find(v); at != segment.memories.end()) at->second.shares = owner;
  for (const ValueId v : facts.unit().operands)
    if (facts.settled(v)) segment.homes[v] = {Home::settled, {}};
  for (const auto& [v, sweeps] : looks)
    if (!segment.homes.contains(v) && is_looked_up(facts, segment, v, sweeps))
      segment.homes[v] = home_of(facts, segment, shared, v, sweeps);
  return segment;
}

Segments assign_homes(Segments s) {
  return change_each(std::move(s), [](const auto&... of) { return assign_homes(of...); });
}

}  // namespace rml
