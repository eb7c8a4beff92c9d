// Reads the text that schedule_text writes.
#include <algorithm>

#include "lowering/schedule/form_reader.h"
#include "lowering/schedule/schedule_text.h"

namespace rml {

namespace {

class ScheduleReader : FormReader {
 public:
  explicit ScheduleReader(TextLines& lines) : FormReader(lines) {}

  // Reads from the line after the current one to the end of the text, or to `end`.
  std::optional<Schedule> read(bool inner) {
    if (!read_core_lines()) return std::nullopt;
    s_.core = shared_core();
    s_.unit_of.assign(values(), Schedule::nowhere);
    for (std::size_t i = 0; i < values(); ++i) s_.sources.push_back({ValueId{i}, 0});
    bool ended = false;
    while (!ended && lines_.next()) {
      ended = inner && lines_.take("end");
      if (!ended) line();
    }
    if (inner && !ended) lines_.fail("a schedule lacks its `end`");
    finish_unit();
    if (!lines_.ok()) return std::nullopt;
    return std::move(s_);
  }

 private:
  void line() {
    if (lines_.take("unit")) return begin_unit();
    if (lines_.take("straight")) {
      s_.straight = true;
    } else if (lines_.take("source")) {
      source();
    } else if (lines_.take("delayed")) {
      s_.delayed.resize(values());
      for (const ValueId v : value_list()) s_.delayed[v.index] = true;
    } else if (lines_.take("unit_of")) {
      const ValueId v = value();
      lines_.expect("=");
      const std::uint32_t unit = lines_.take("none") ? Schedule::nowhere : index("unit", s_.units.size());
      if (lines_.ok()) s_.unit_of[v.index] = unit;
    } else if (s_.units.empty()) {
      lines_.fail_expecting("a line of a schedule");
    } else if (!part(s_.units.back()) && !(s_.units.back().segmented && part_of_segment(s_.units.back()))) {
      lines_.fail_expecting("a line of a unit");
    }
  }

  void source() {
    const ValueId v = value();
    lines_.expect("=");
    StreamSource from{value(), 0};
    lines_.expect("+");
    from.skip = lines_.integer<std::uint32_t>("a number of elements");
    if (from.skip > values()) lines_.fail("the core has fewer values that look ahead");
    if (lines_.ok()) s_.sources[v.index] = from;
  }

  void begin_unit() {
    finish_unit();
    begin_ = lines_.place();
    next_index("unit", s_.units.size());
    ScheduledUnit unit;
    unit.segmented = lines_.take("segmented");
    if (!unit.segmented) lines_.expect("forward");
    if (lines_.take("on")) unit.clock = clock();
    s_.units.push_back(std::move(unit));
  }

  void finish_unit() {
    if (s_.units.empty() || !s_.units.back().segmented) return;
    const SegmentPlan& plan = s_.units.back().plan;
    if (!plan.cut.condition.valid()) lines_.fail_at(begin_, "a segmented unit needs a cut");
    if (plan.sweeps.empty()) lines_.fail_at(begin_, "a segmented unit needs a sweep");
  }

  bool part(ScheduledUnit& unit) {
    if (lines_.take("reads")) {
      unit.operands.push_back(value());
      if (lines_.take("belated")) unit.belated.push_back(unit.operands.back());
      unit.needed.push_back(lines_.take("needed") ? literals() : std::vector<Literal>{});
    } else if (lines_.take("value")) {
      const std::size_t begin = lines_.next_place();
      const ValueId v = value();
      equation_of(v);
      if (!lines_.ok()) return true;
      if (s_.unit_of[v.index] != Schedule::nowhere)
        lines_.fail_at(begin, id_text(v) + " belongs to unit " + std::to_string(s_.unit_of[v.index]) + " already");
      s_.unit_of[v.index] = static_cast<std::uint32_t>(s_.units.size() - 1);
      unit.values.push_back(v);
    } else {
      return false;
    }
    return true;
  }

  bool part_of_segment(ScheduledUnit& unit) {
    SegmentPlan& plan = unit.plan;
    if (lines_.take("cut")) {
      plan.cut = literal();
      plan.by_need = lines_.take("by_need");
    } else if (lines_.take("ends")) {
      unit.cut = value();
    } else if (lines_.take("only_at_cut")) {
      plan.only_at_cut.push_back(literal());
    } else if (lines_.take("awaits")) {
      plan.awaiting.push_back(awaiting());
    } else if (lines_.take("sweep")) {
      const bool backward = lines_.take("backward");
      if (!backward) lines_.expect("forward");
      plan.sweeps.push_back({backward, {}});
    } else if (lines_.take("idle")) {
      const ValueId v = value();
      lines_.expect("as");
      unit.idle.emplace_back(v, lines_.take("%?") ? ValueId{} : value());
    } else if (lines_.peek() == '%' && !plan.sweeps.empty()) {
      plan.sweeps.back().items.push_back(item());
    } else {
      return false;
    }
    return true;
  }

  Awaiting awaiting() {
    Awaiting a;
    a.post = value();
    while (lines_.take("where")) {
      Guard guard;
      guard.never = lines_.take("never");
      guard.literals = literals();
      std::ranges::sort(guard.literals);
      a.demands.push_back(std::move(guard));
    }
    return a;
  }

  Schedule s_;
  std::size_t begin_ = 0;  // position at which the unit that is being read begins
};

}  // namespace

std::optional<Schedule> read_inner_schedule(TextLines& lines) { return ScheduleReader(lines).read(true); }

std::optional<Schedule> read_schedule(std::string_view text, TextFault& fault) {
  TextLines lines(text);
  if (!lines.next()) lines.fail_expecting("'form schedule'");
  lines.expect_form("schedule");
  auto schedule = lines.ok() ? ScheduleReader(lines).read(false) : std::nullopt;
  fault = lines.fault();
  return schedule;
}

}  // namespace rml
