// Builds the units one by one, in the order of the schedule. In a straight program, outputs that no unit mentions are
// added.
#include "lowering/segment/build_steps.h"

#include <algorithm>

#include "lowering/segment/write_segment.h"
#include "lowering/steps/program_builder.h"
#include "lowering/steps/write_forward.h"

namespace rml {

namespace {

// Writes outputs that are inputs or constants, which no unit mentions.
void write_untouched_outputs(const Schedule& schedule, steps::Program& program) {
  const Core& core = *schedule.core;
  if (program.units.empty()) {
    program.units.emplace_back();
    program.units[0].clock = base_clock;
    program.units[0].name = core.entry + "_unit0";
  }
  StepWriter out(program.units[0].instant);
  for (std::size_t o = 0; o < core.outputs.size(); ++o) {
    const ValueId v = core.outputs[o].value;
    const bool mentioned = schedule.unit_of[v.index] != Schedule::nowhere ||
                           (!schedule.units.empty() &&
                            std::ranges::find(schedule.units[0].operands, v) != schedule.units[0].operands.end());
    if (mentioned || core[v].clock == never_clock) continue;
    if (!core.is_const(v)) out.write({}, steps::LoadInput{v});
    out.write({}, steps::StoreOutput{static_cast<std::uint32_t>(o), v});
  }
}

}  // namespace

steps::Program build_steps(const Segments& segments, bool network) {
  const Schedule& schedule = segments.schedule;
  const Streams streams = find_streams(schedule);
  ProgramBuilder builder(schedule, streams, network);
  auto segment = segments.list.begin();
  for (std::uint32_t u = 0; u < schedule.units.size(); ++u) {
    if (schedule.units[u].segmented)
      write_segment(builder, *segment++);
    else
      write_forward_unit(builder, u);
  }
  steps::Program program = std::move(builder).finish();
  if (schedule.straight) write_untouched_outputs(schedule, program);
  return program;
}

}  // namespace rml
