// Verifies the sweeps of a segment: every value is computed once at each instant, operands come before their users, and
// every value that another sweep reads has a home. The check reads the sweeps alone, without segment_facts.h.
#include <algorithm>
#include <array>

#include "lowering/segment/segment.h"

namespace rml {

namespace {

constexpr std::array<std::uint8_t, 4> every_class{first_instant, interior_instant, last_instant, single_instant};

class SegmentVerifier {
 public:
  SegmentVerifier(const Schedule& schedule, const Segment& segment)
      : schedule_(schedule), core_(*schedule.core), segment_(segment) {}

  std::string run() {
    if (segment_.unit >= schedule_.units.size() || !schedule_.units[segment_.unit].segmented)
      return "a segment belongs to a unit that is not segmented";
    if (segment_.sweeps.empty() || segment_.sweeps[0].backward) return "the first sweep is missing or runs backward";
    find_positions();
    for (std::size_t s = 0; s < segment_.sweeps.size(); ++s)
      for (std::size_t k = 0; k < segment_.sweeps[s].items.size(); ++k) check_operands({s, k});
    check_products();
    check_memories();
    if (!segment_.homes.empty()) check_homes();
    return error_;
  }

 private:
  struct Position {
    std::size_t sweep, item;
    friend auto operator<=>(const Position&, const Position&) = default;
  };
  using ByClass = std::array<std::optional<Position>, every_class.size()>;

  void fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }
  std::string name(ValueId v) const { return "%" + std::to_string(v.index) + " `" + describe(core_, v) + "`"; }
  bool is_operand(ValueId v) const {
    return std::ranges::find(schedule_.units[segment_.unit].operands, v) !=
           schedule_.units[segment_.unit].operands.end();
  }

  const SweepItem& item(Position at) const { return segment_.sweeps[at.sweep].items[at.item]; }

  void find_positions() {
    for (std::size_t s = 0; s < segment_.sweeps.size(); ++s)
      for (std::size_t k = 0; k < segment_.sweeps[s].items.size(); ++k) {
        const SweepItem& item = segment_.sweeps[s].items[k];
        if (schedule_.unit_of[item.value.index] != segment_.unit) fail(name(item.value) + " is no value of the unit");
        if (item.classes == 0 || item.classes > any_instant) fail(name(item.value) + " is computed at no instant");
        for (std::size_t c = 0; c < every_class.size(); ++c) {
          if ((item.classes & every_class[c]) == 0) continue;
          if (computed_[item.value][c]) fail(name(item.value) + " is computed twice");
          computed_[item.value][c] = Position{s, k};
        }
      }
  }

  // Operands of the same instant must come from an earlier sweep, or from an earlier item of this one. An operand that
  // no sweep computes at such an instant is not needed there.
  void check_operands(Position at) {
    const ValueId v = item(at).value;
    const core::Rhs& rhs = core_[v].rhs;
    if (segment_.products.contains(v)) return;
    if (const auto* p = std::get_if<core::Post>(&rhs)) return check_later(at, p->operand);
    if (const auto* f = std::get_if<core::Fby>(&rhs)) return check_earlier(at, f->next);
    for_each_operand(rhs, [&](ValueId o) {
      const auto computed = computed_.find(o);
      if (computed == computed_.end()) return;
      for (std::size_t c = 0; c < every_class.size(); ++c)
        if ((item(at).classes & every_class[c]) != 0 && computed->second[c] && *computed->second[c] >= at)
          fail(name(v) + " is computed before its operand " + name(o));
    });
  }

  // Operands of the neighbouring instant in the segment must come from an earlier sweep, or from this one if it runs in
  // that direction. The first instant has no predecessor, and the last one no successor.
  void check_earlier(Position at, ValueId next) {
    const bool has_earlier = (item(at).classes & (interior_instant | last_instant)) != 0;
    if (has_earlier) check_beside(at, next, first_instant | interior_instant, !segment_.sweeps[at.sweep].backward);
  }
  void check_later(Position at, ValueId operand) {
    const bool has_later = (item(at).classes & (first_instant | interior_instant)) != 0;
    if (has_later) check_beside(at, operand, interior_instant | last_instant, segment_.sweeps[at.sweep].backward);
  }
  void check_beside(Position at, ValueId o, std::uint8_t classes, bool in_this_sweep) {
    const auto computed = computed_.find(o);
    if (computed == computed_.end()) return;
    const std::size_t until = in_this_sweep ? at.sweep + 1 : at.sweep;
    for (std::size_t c = 0; c < every_class.size(); ++c)
      if ((classes & every_class[c]) != 0 && computed->second[c] && computed->second[c]->sweep >= until)
        fail(name(item(at).value) + " needs " + name(o) + " of other instants before they are known");
  }

  void check_products() {
    for (const auto& [v, product] : segment_.products) {
      const auto at = computed_.find(v);
      if (at == computed_.end()) {
        fail("the product " + name(v) + " is in no sweep");
        continue;
      }
      if (!at->second[0] || at->second[0]->sweep == 0) fail("the product " + name(v) + " is not in a later sweep");
      for (const BatchOperand& o : {product.a, product.b}) check_matrix(v, at->second, o);
    }
  }
  // All elements of the matrix must come from earlier sweeps, or it must be a product of the same sweep.
  void check_matrix(ValueId v, const ByClass& at, const BatchOperand& o) {
    const auto computed = computed_.find(o.value);
    if (o.held || computed == computed_.end()) return;
    for (std::size_t c = 0; c < every_class.size(); ++c) {
      if (!at[c] || !computed->second[c]) continue;
      const bool before = computed->second[c]->sweep < at[c]->sweep;
      if (!before && !(segment_.products.contains(o.value) && *computed->second[c] < *at[c]))
        fail("the product " + name(v) + " comes before its matrix " + name(o.value));
    }
  }

  void check_memories() {
    for (const auto& [v, memory] : segment_.memories) {
      if (!std::holds_alternative<core::Fby>(core_[v].rhs)) return fail(name(v) + " is no memory");
      if (memory.in_place && (*memory.in_place == 0 || *memory.in_place >= segment_.sweeps.size()))
        fail(name(v) + " is updated in place, but not by a later sweep");
      if (memory.in_place && memory.begins)
        fail(name(v) + " is updated in place, but a later sweep also begins with its old value");
      if (memory.shares.valid() && !segment_.memories.contains(memory.shares))
        fail(name(v) + " is stored in the cell of a value that is no memory");
    }
  }

  // A value that a later sweep reads must have a home, unless it is a memory.
  void check_homes() {
    for (const auto& [v, home] : segment_.homes) {
      const bool owned = home.kind == Home::memory || home.kind == Home::next;
      if (owned && !segment_.memories.contains(home.owner))
        fail(name(v) + " is stored in the cell of a value that is no memory");
      if (!owned && home.owner.valid()) fail(name(v) + " is stored in a cell of its own and in another's cell");
    }
    for (std::size_t s = 1; s < segment_.sweeps.size(); ++s)
      for (const SweepItem& item : segment_.sweeps[s].items) {
        if (segment_.products.contains(item.value) || segment_.memories.contains(item.value)) continue;
        for_each_operand(core_[item.value].rhs, [&](ValueId o) {
          if (is_found(o, s)) return;
          fail(name(item.value) + " reads " + name(o) + ", which is not stored");
        });
      }
  }
  bool is_found(ValueId o, std::size_t sweep) const {
    const auto at = computed_.find(o);
    if (core_.is_const(o) || segment_.homes.contains(o) || segment_.memories.contains(o)) return true;
    if (at == computed_.end()) return !is_operand(o);
    return std::ranges::all_of(at->second, [&](const std::optional<Position>& p) { return !p || p->sweep == sweep; });
  }

  const Schedule& schedule_;
  const Core& core_;
  const Segment& segment_;
  std::map<ValueId, ByClass> computed_;
  std::string error_;
};

}  // namespace

std::string verify(const Segments& segments) {
  std::size_t segmented = 0;
  for (const ScheduledUnit& u : segments.schedule.units) segmented += u.segmented ? 1 : 0;
  if (segmented != segments.list.size()) return "the number of segments is not that of the segmented units";
  for (std::size_t k = 0; k < segments.list.size(); ++k) {
    if (k > 0 && segments.list[k].unit <= segments.list[k - 1].unit) return "segments are not in the order of units";
    if (std::string error = SegmentVerifier(segments.schedule, segments.list[k]).run(); !error.empty()) return error;
  }
  return {};
}

}  // namespace rml
