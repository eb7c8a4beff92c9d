// Writes the complete text of a schedule.
#include "lowering/schedule/schedule_text.h"

#include "lowering/schedule/form_reader.h"

namespace rml {

namespace {

std::string literals_text(const std::vector<Literal>& literals) {
  std::string text;
  for (const Literal& l : literals) text += " " + literal_text(l);
  return text;
}

std::string plan_text(const Core& core, const SegmentPlan& plan) {
  std::string text = "  cut " + literal_text(plan.cut) + (plan.by_need ? " by_need\n" : "\n");
  for (const Literal& l : plan.only_at_cut) text += "  only_at_cut " + literal_text(l) + "\n";
  for (const Awaiting& a : plan.awaiting) {
    text += "  awaits " + id_text(a.post);
    for (const Guard& g : a.demands)
      text += " where" + std::string(g.never ? " never" : "") + literals_text(g.literals);
    text += "\n";
  }
  for (const SweepPlan& sweep : plan.sweeps) {
    text += sweep.backward ? "  sweep backward\n" : "  sweep forward\n";
    for (const SweepItem& i : sweep.items)
      text += "    " + id_text(i.value) + " = " + equation_text(core, i.value) + classes_text(i.classes) + "\n";
  }
  return text;
}

std::string unit_text(const Core& core, const ScheduledUnit& unit, std::size_t index) {
  std::string text = "unit " + std::to_string(index) + (unit.segmented ? " segmented" : " forward");
  if (unit.clock.valid()) text += " on " + id_text(unit.clock);
  text += "\n";
  for (std::size_t k = 0; k < unit.operands.size(); ++k) {
    text += "  reads " + id_text(unit.operands[k]);
    if (unit.is_belated(unit.operands[k])) text += " belated";
    if (k < unit.needed.size() && !unit.needed[k].empty()) text += " needed" + literals_text(unit.needed[k]);
    text += "\n";
  }
  for (const ValueId v : unit.values) text += "  value " + id_text(v) + " = " + equation_text(core, v) + "\n";
  if (!unit.segmented) return text;
  if (unit.cut.valid()) text += "  ends " + id_text(unit.cut) + "\n";
  text += plan_text(core, unit.plan);
  for (const auto& [v, constant] : unit.idle) text += "  idle " + id_text(v) + " as " + id_text(constant) + "\n";
  return text;
}

std::string lines_of(const Schedule& s) {
  std::string text = inner_core_text(*s.core) + (s.straight ? "straight\n" : "");
  std::vector<std::uint32_t> listed(s.core->values.size(), Schedule::nowhere);
  for (std::size_t u = 0; u < s.units.size(); ++u)
    for (const ValueId v : s.units[u].values) listed[v.index] = static_cast<std::uint32_t>(u);
  for (std::size_t i = 0; i < s.sources.size(); ++i)
    if (const StreamSource& from = s.sources[i]; from.value != ValueId{i} || from.skip != 0)
      text += "source " + id_text(ValueId{i}) + " = " + id_text(from.value) + " + " + std::to_string(from.skip) + "\n";
  if (!s.delayed.empty()) {
    text += "delayed";
    for (std::size_t i = 0; i < s.delayed.size(); ++i)
      if (s.delayed[i]) text += " " + id_text(ValueId{i});
    text += "\n";
  }
  for (std::size_t u = 0; u < s.units.size(); ++u) text += unit_text(*s.core, s.units[u], u);
  for (std::size_t i = 0; i < s.unit_of.size(); ++i)
    if (const std::uint32_t unit = s.unit_of[i]; unit != listed[i])
      text += "unit_of " + id_text(ValueId{i}) + " = " +
              (unit == Schedule::nowhere ? std::string("none") : std::to_string(unit)) + "\n";
  return text;
}

}  // namespace

std::string schedule_text(const Schedule& s) { return form_line("schedule") + lines_of(s); }
std::string inner_schedule_text(const Schedule& s) { return lines_of(s) + "end\n"; }

}  // namespace rml
