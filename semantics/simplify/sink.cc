// Sinking: moves a value below the samplings if these are its only uses (part of simplify).
//
// A pure pointwise value is computed on the deepest clock that all its uses share: the work of a
// branch, and its possible failure, occur only if the branch is taken; the init of a fby is
// computed only at the start. A merge of sampled values sinks likewise if a failure is below it:
//
//   when c (merge d (when d y) z)    merge d' (when d' (when c y)) z,  d' = when c d
//
// This changes the clocks of its branches. So the sweep, users before operands, works with places
// instead of clocks: a place is a path of literals over unsampled values. A `when` has no place
// of its own; it is one step of a path. The steps between a value's place and the places of its
// uses are written at the end, each once.
#include <algorithm>
#include <cassert>

#include "semantics/core/joint.h"
#include "semantics/simplify/passes.h"

namespace rml {

namespace {

using PlaceId = Id<struct PlaceTag>;

struct Place {
  PlaceId parent;  // the place that is sampled; invalid for base and never
  ValueId condition;
  bool positive = true;
  std::uint32_t depth = 0;
  ClockId clock;      // the clock of the place; set by made(), together with `sampled`
  ValueId sampled{};  // the condition on the parent's clock
};

constexpr PlaceId base_place{0}, never_place{1};

class Sinking {
 public:
  Sinking(Core& core, std::vector<bool>& effects, const std::vector<ValueId>& roots)
      : core_(core), effects_(effects), clocks_(core), count_(core.values.size()) {
    for (const ClockId clock : {base_clock, never_clock}) places_.push_back({{}, {}, true, 0, clock});
    place_of_clock_.resize(core.clocks.size());
    place_of_clock_[base_clock.index] = base_place;
    place_of_clock_[never_clock.index] = never_place;
    find_sources();
    place_.resize(count_);
    pinned_.resize(count_, false);
    find_failures();
    for (const ValueId root : roots) pin_root(root);
    for (std::size_t v = 0; v < count_; ++v) pin_operands(ValueId{v});
  }

  bool run() {
    bool changed = false;
    for (std::size_t v = count_; v-- > 0;) changed |= settle(ValueId{v});
    if (!changed) return false;
    find_steps();
    for (std::size_t v = 0; v < count_; ++v) rewrite(ValueId{v});
    for (auto* ports : {&core_.inputs, &core_.outputs, &core_.watches})
      for (Port& p : *ports) follow(p.value);
    for (CoreAssert& check : core_.asserts) follow(check.condition);
    for (Parameter& p : core_.parameters) follow(p.value);
    effects_.resize(core_.values.size(), false);
    return true;
  }

 private:
  // ---- before: samplings, failures, places of clocks ----

  // Finds the value that each value samples, through all samplings; itself for other values.
  void find_sources() {
    for (std::size_t v = 0; v < count_; ++v) {
      const auto* when = std::get_if<core::When>(&core_.values[v].rhs);
      const bool step = when != nullptr && when->operand.index < v && !core_.is_const(when->operand) &&
                        !core_.is_const(when->condition);
      source_.push_back(step ? source_[when->operand.index] : ValueId{v});
    }
  }
  bool is_step(ValueId v) const { return source_[v.index] != v; }

  // Finds the values that depend, within the cycle, on a value that can fail.
  void find_failures() {
    effects_.resize(count_, false);
    fails_ = effects_;
    for (std::size_t v = 0; v < count_; ++v) {
      const core::Rhs& rhs = core_.values[v].rhs;
      if (std::holds_alternative<core::Apply>(rhs) || std::holds_alternative<core::Merge>(rhs) ||
          std::holds_alternative<core::When>(rhs))
        for_each_operand(rhs, [&](ValueId operand) { fails_[v] = fails_[v] || fails_[operand.index]; });
    }
  }

  std::uint64_t literal(PlaceId parent, ValueId condition, bool positive) const {
    return std::uint64_t{parent.index} << 33 | std::uint64_t{source_[condition.index].index} << 1 |
           (positive ? 1u : 0u);
  }
  PlaceId below(PlaceId parent, ValueId condition, bool positive) {
    const auto [known, fresh] = below_.try_emplace(literal(parent, condition, positive), PlaceId{places_.size()});
    if (fresh) {
      const ValueId c = source_[condition.index];
      places_.push_back({parent, c, positive, places_[parent.index].depth + 1, {}});
      require(c, parent);
    }
    return known->second;
  }

  template <class Below>
  PlaceId walk(ClockId clock, Below&& step) {
    std::vector<ClockId> chain;
    for (; !place_of_clock_[clock.index].valid(); clock = core_[clock].parent) chain.push_back(clock);
    PlaceId place = place_of_clock_[clock.index];
    for (; !chain.empty() && place.valid(); chain.pop_back()) {
      const Clock& c = core_[chain.back()];
      place_of_clock_[chain.back().index] = place = step(place, c.condition, c.positive);
    }
    return place;
  }
  PlaceId place_of(ClockId clock) {
    return walk(clock, [&](PlaceId parent, ValueId c, bool positive) { return below(parent, c, positive); });
  }
  // Invalid if no use required a value there.
  PlaceId known_place(ClockId clock) {
    return walk(clock, [&](PlaceId parent, ValueId c, bool positive) {
      const auto known = below_.find(literal(parent, c, positive));
      return known == below_.end() ? PlaceId{} : known->second;
    });
  }

  // Keeps v where it is: it has a user that is not pointwise, or that precedes it, as in an
  // instantaneous cycle. A sampling requires its source at its place.
  void pin(ValueId v) {
    if (core_.is_const(v)) return;
    if (!is_step(v)) pinned_[v.index] = true;
    require(v, place_of(core_[v].clock));
  }

  // An output or assert is present at the instants of its clock, even if it is a constant.
  void pin_root(ValueId v) {
    if (core_.is_const(v))
      place_[v.index] = place_of(core_[v].clock);
    else
      pin(v);
  }

  void pin_operands(ValueId v) {
    const core::Rhs& rhs = core_[v].rhs;
    const auto* merge = std::get_if<core::Merge>(&rhs);
    const bool follows = std::holds_alternative<core::Apply>(rhs) || is_step(v) ||
                         (merge != nullptr && !core_.is_const(merge->condition));
    for_each_operand(rhs, [&](ValueId operand) {
      if (!follows || operand.index >= v.index) pin(operand);
    });
    const ValueId condition = core_[core_[v].clock].condition;
    if (condition.valid() && condition.index >= v.index) pin(condition);
  }

  // ---- the sweep ----

  PlaceId common(PlaceId a, PlaceId b) const {
    while (a != b) {
      PlaceId& deeper = places_[a.index].depth > places_[b.index].depth ? a : b;
      deeper = places_[deeper.index].parent;
      if (!deeper.valid()) return {};
    }
    return a;
  }
  bool within(PlaceId place, PlaceId ancestor) const {
    while (places_[place.index].depth > places_[ancestor.index].depth) place = places_[place.index].parent;
    return place == ancestor;
  }

  void require(ValueId v, PlaceId at) {
    v = source_[v.index];
    if (core_.is_const(v)) return;
    PlaceId& place = place_[v.index];
    place = place.valid() ? common(place, at) : at;
  }

  // Decides the place of v and requires its operands there. True if the place changes.
  bool settle(ValueId v) {
    if (core_.is_const(v) || is_step(v)) return false;
    const PlaceId own = place_of(core_[v].clock);
    PlaceId& place = place_[v.index];
    if (!place.valid() || pinned_[v.index] || !within(place, own) || !can_sink(v, own, place)) place = own;
    const core::Rhs& rhs = core_[v].rhs;
    const PlaceId at = place;
    if (std::holds_alternative<core::Apply>(rhs)) {
      for_each_operand(rhs, [&](ValueId operand) { require(operand, at); });
    } else if (const auto* merge = std::get_if<core::Merge>(&rhs); merge && !core_.is_const(merge->condition)) {
      require(merge->condition, at);
      require(merge->on_true, below(at, merge->condition, true));
      require(merge->on_false, below(at, merge->condition, false));
    }
    return at != own;
  }

  bool can_sink(ValueId v, PlaceId own, PlaceId to) const {
    const core::Rhs& rhs = core_[v].rhs;
    if (const auto* apply = std::get_if<core::Apply>(&rhs)) return !is_joint(apply->op);
    const auto* merge = std::get_if<core::Merge>(&rhs);
    if (merge == nullptr || !fails_[v.index] || core_.is_const(merge->condition)) return false;
    for (PlaceId p = to; p != own; p = places_[p.index].parent)
      if (places_[p.index].condition == source_[merge->condition.index]) return false;
    const auto movable = [&](ValueId branch, bool truth) {
      const auto* when = std::get_if<core::When>(&core_[branch].rhs);
      return core_.is_const(branch) ||
             (is_step(branch) && when->condition == merge->condition && when->positive == truth);
    };
    return movable(merge->on_true, true) && movable(merge->on_false, false);
  }

  // ---- after: clocks and samplings ----

  static std::uint64_t key(ValueId v, PlaceId p) { return std::uint64_t{v.index} << 32 | p.index; }

  // Finds the former place of each value, and the existing samplings, for reuse.
  void find_steps() {
    for (std::size_t i = 0; i < count_; ++i) {
      const PlaceId place = known_place(core_.values[i].clock);
      was_.push_back(place);
      if (place.valid() && is_step(ValueId{i})) steps_.try_emplace(key(source_[i], place), ValueId{i});
    }
  }

  // Makes the clocks down to a place, outer ones first. So `at` finds the clocks it needs already
  // made, and the mutual recursion ends even if conditions form a cycle.
  const Place& made(PlaceId place) {
    std::vector<PlaceId> chain;
    for (PlaceId p = place; !places_[p.index].clock.valid(); p = places_[p.index].parent) chain.push_back(p);
    for (; !chain.empty(); chain.pop_back()) {
      const Place p = places_[chain.back().index];
      const ValueId condition = at(p.condition, p.parent);
      places_[chain.back().index].sampled = condition;
      places_[chain.back().index].clock = clocks_.on(places_[p.parent.index].clock, condition, p.positive);
    }
    return places_[place.index];
  }

  // The value that holds v at a place.
  ValueId at(ValueId v, PlaceId place) {
    if (core_.is_const(v)) return v;
    v = source_[v.index];
    std::vector<PlaceId> chain;
    ValueId value;
    for (PlaceId p = place; !value.valid(); p = places_[p.index].parent) {
      assert(p.valid());  // v was required at `place`, so its own place is there or above
      const auto known = sampled_.find(key(v, p));
      if (p == place_[v.index])
        value = v;
      else if (known != sampled_.end())
        value = known->second;
      else
        chain.push_back(p);
    }
    for (; !chain.empty(); chain.pop_back()) sampled_[key(v, chain.back())] = value = sample(v, value, chain.back());
    return value;
  }

  ValueId sample(ValueId source, ValueId x, PlaceId place) {
    const Place p = made(place);
    const core::When step{x, p.sampled, p.positive};
    if (const auto known = steps_.find(key(source, place)); known != steps_.end()) {
      core_[known->second].rhs = step;
      core_[known->second].clock = p.clock;
      return known->second;
    }
    if (source == p.condition)
      return add({core::Const{Tensor::boolean(p.positive)}, DType::boolean, {}, base_clock, {}, {}, {}});
    const Value& from = core_[source];
    return add({step, from.dtype, from.shape, p.clock, from.span, from.instance, {}});
  }

  ValueId add(Value value) {
    core_.values.push_back(std::move(value));
    return ValueId{core_.values.size() - 1};
  }

  void rewrite(ValueId v) {
    if (core_.is_const(v)) return rewrite_constant(v);
    if (is_step(v)) return;
    const PlaceId place = place_[v.index];
    core::Rhs rhs = std::move(core_[v].rhs);  // only its operands are read below
    if (auto* apply = std::get_if<core::Apply>(&rhs)) {
      for (ValueId& operand : apply->operands) operand = at(operand, place);
    } else if (auto* merge = std::get_if<core::Merge>(&rhs); merge && !core_.is_const(merge->condition)) {
      merge->on_true = at(merge->on_true, below(place, merge->condition, true));
      merge->on_false = at(merge->on_false, below(place, merge->condition, false));
      merge->condition = at(merge->condition, place);
    } else {
      for_each_operand(rhs, [&](ValueId& operand) { follow(operand); });
    }
    core_[v].rhs = std::move(rhs);
    core_[v].clock = made(place).clock;
    // The name of a sampling passes to the value that is now computed there.
    const auto named = place == was_[v.index] ? steps_.end() : steps_.find(key(v, place));
    if (named != steps_.end() && !core_[named->second].name.empty()) core_[v].name = core_[named->second].name;
  }

  // A root keeps its clock, now made of the moved conditions. An operand fits any clock and gets
  // the base clock, since nothing keeps the conditions of its former clock alive.
  void rewrite_constant(ValueId v) {
    if (place_[v.index].valid())
      core_[v].clock = made(place_[v.index]).clock;
    else if (core_[v].clock != never_clock)
      core_[v].clock = base_clock;
  }

  // Updates a use that requires v at its former place: the value if it is there, or a sampling of
  // it.
  void follow(ValueId& v) {
    if (core_.is_const(v)) return;
    const ValueId source = source_[v.index];
    const PlaceId own = was_[v.index];
    v = own.valid() && within(own, place_[source.index]) ? at(v, own) : source;
  }

  Core& core_;
  std::vector<bool>& effects_;
  ClockTable clocks_;
  const std::size_t count_;
  std::vector<ValueId> source_;
  std::vector<bool> pinned_, fails_;
  std::vector<PlaceId> place_;  // indexed by source: common place of its uses, then its final place
  std::vector<Place> places_;
  std::vector<PlaceId> place_of_clock_, was_;
  std::unordered_map<std::uint64_t, PlaceId> below_;
  std::unordered_map<std::uint64_t, ValueId> steps_, sampled_;
};

}  // namespace

bool sink(Core& core, std::vector<bool>& effects, const std::vector<ValueId>& roots) {
  return Sinking(core, effects, roots).run();
}

}  // namespace rml
