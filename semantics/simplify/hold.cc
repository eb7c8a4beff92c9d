// One memory for a value that is both delayed on its own clock and held on the clock above (part
// of simplify).
//
// A hold keeps the latest x of a sub-clock on the clock above. Where x is present, the hold
// contains exactly the value that `fby` would yield:
//
//   %5 = fby 0 %6                            (holds %4, which is on c)
//   %6 = merge c %4 (%5 when not c)
//   %3 = fby 0 %4                            %3 = when c %5
#include <map>

#include "semantics/simplify/passes.h"

namespace rml {

namespace {

// The branch of `next` with the new value, if the other branch is the fby itself.
ValueId held_value(const Core& core, ValueId fby, const core::Merge& next) {
  const auto keeps = [&](ValueId branch) {
    const auto* w = std::get_if<core::When>(&core[branch].rhs);
    return w != nullptr && w->operand == fby && w->condition == next.condition;
  };
  if (keeps(next.on_false)) return next.on_true;
  if (keeps(next.on_true)) return next.on_false;
  return {};
}

}  // namespace

bool share_holds(Core& core) {
  std::map<std::pair<ValueId, ValueId>, ValueId> holds;  // the hold operations found, by initial and held value
  for (std::size_t v = 0; v < core.values.size(); ++v) {
    const auto* f = std::get_if<core::Fby>(&core.values[v].rhs);
    if (f == nullptr || !core.is_const(f->init)) continue;
    const auto* next = std::get_if<core::Merge>(&core[f->next].rhs);
    if (next == nullptr) continue;
    const ValueId held = held_value(core, ValueId{v}, *next);
    if (held.valid() && !core.is_const(held)) holds.try_emplace({f->init, held}, ValueId{v});
  }
  bool changed = false;
  for (std::size_t v = 0; v < core.values.size(); ++v) {
    const auto* f = std::get_if<core::Fby>(&core.values[v].rhs);
    if (f == nullptr) continue;
    const auto at = holds.find({f->init, f->next});
    if (at == holds.end() || at->second == ValueId{v}) continue;
    const Clock& on = core[core.values[v].clock];
    core.values[v].rhs = core::When{at->second, on.condition, on.positive};
    changed = true;
  }
  return changed;
}

}  // namespace rml
