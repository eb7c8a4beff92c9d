// Finds the streams that are handed out: those that another unit reads (unless it finds the value in a cell), and those
// of the rows. Base inputs come from the caller. The stream of a delayed memory comes from the unit that computes its
// next value.
#include "lowering/steps/streams.h"

#include <algorithm>

#include "lowering/schedule/clock_path.h"
#include "semantics/core/queries.h"
#include "semantics/time/memories.h"

namespace rml {

namespace {

// A unit is prompt if all its operands come with the cycle. It is immediate if its results do as well.
void find_prompt(const Schedule& s, Streams& streams, std::vector<bool>& immediate) {
  const auto at_once = [&](const ScheduledUnit& reader, ValueId v) {
    const StreamSource from = s.sources[v.index];
    const std::uint32_t unit = s.unit_of[from.value.index];
    return from.skip == (reader.is_belated(v) ? 1 : 0) && (unit == Schedule::nowhere || immediate[unit]);
  };
  for (std::size_t u = 0; u < s.units.size(); ++u) {
    streams.prompt[u] = std::ranges::all_of(s.units[u].operands, [&](ValueId v) { return at_once(s.units[u], v); });
    immediate[u] = !s.units[u].segmented && streams.prompt[u];
  }
}

bool keeps_what_it_has(const Core& core, ValueId v) {
  const auto* f = std::get_if<core::Fby>(&core[v].rhs);
  return f != nullptr && core[v].clock == base_clock && !core[v].shape.empty() &&
         !what_changes(core, v, f->next).next.valid();
}

void find_handed_out(const Schedule& s, Streams& streams) {
  const auto read = [&](ValueId v) {
    const ValueId source = s.sources[v.index].value;
    if (!s.is_base_input(source) && !s.is_delayed(source)) streams.handed_out[source.index] = true;
  };
  for (const ScheduledUnit& unit : s.units)
    for (const ValueId v : unit.operands)
      if (!streams.settled[v.index]) read(v);
  const Core& core = *s.core;
  for (const Port& o : core.outputs) {
    if (core[o.value].clock == never_clock) continue;
    read(o.value);
    for (const Literal& l : clock_path(core, base_clock, core[o.value].clock)) read(l.condition);
  }
}

}  // namespace

Streams find_streams(const Schedule& s) {
  const Core& core = *s.core;
  const std::size_t count = core.values.size();
  const std::vector<bool> none(count);
  Streams streams{none, none, none, conditions(core), std::vector<bool>(s.units.size())};
  for (const CoreAssert& a : core.asserts) streams.checked[a.condition.index] = true;
  if (s.straight) {
    for (const Port& o : core.outputs) streams.handed_out[o.value.index] = true;
    return streams;
  }
  std::vector<bool> immediate(s.units.size());
  find_prompt(s, streams, immediate);
  for (std::size_t u = 0; u < s.units.size(); ++u)
    if (immediate[u])
      for (const ValueId v : s.units[u].values) streams.settled[v.index] = keeps_what_it_has(core, v);
  find_handed_out(s, streams);
  return streams;
}

}  // namespace rml
