// Makes segments from the schedule's plan, and applies a pass to all of them.
#include <algorithm>
#include <set>

#include "lowering/segment/segment_facts.h"

namespace rml {

Segments plan_segments(Schedule schedule) {
  Segments segments{std::move(schedule), {}};
  const Schedule& s = segments.schedule;
  for (std::uint32_t u = 0; u < s.units.size(); ++u) {
    if (!s.units[u].segmented) continue;
    Segment segment;
    segment.unit = u;
    for (const SweepPlan& sweep : s.units[u].plan.sweeps) segment.sweeps.push_back({sweep.backward, sweep.items});
    for (const Sweep& sweep : segment.sweeps)
      for (const SweepItem& i : sweep.items)
        if (std::holds_alternative<core::Fby>((*s.core)[i.value].rhs)) segment.memories[i.value] = {};
    segments.list.push_back(std::move(segment));
  }
  return segments;
}

Segments change_each(Segments segments,
                     const std::function<Segment(const Schedule&, const Streams&, const Segment&)>& change) {
  if (segments.list.empty()) return segments;
  const Streams streams = find_streams(segments.schedule);
  for (Segment& segment : segments.list) segment = change(segments.schedule, streams, segment);
  return segments;
}

}  // namespace rml
