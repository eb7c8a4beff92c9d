// Storage first: a queue for every stream that crosses units, with one reader per use; then
// the units one by one, and what hands rows out.
//
// In a forward unit values are written in schedule order. A fby is read where it is
// scheduled and written as soon as both it has been read and its next value is known; a
// tensor only at the end of the block, since its readers may still look at the cell.
#include "lowering/build_steps.h"

#include <algorithm>
#include <map>

#include "lowering/step_writer.h"

namespace rml {

ProgramBuilder::ProgramBuilder(const Schedule& schedule) : schedule_(schedule) {
  program_.core = schedule.core;
  program_.straight = schedule.straight;
  const std::size_t n = core().values.size();
  queue_of_.resize(n);
  outputs_of_.resize(n);
  asserts_of_.resize(n);
  program_.inlined.assign(n, false);
  program_.value_sites.assign(n, UINT32_MAX);
}

CellId ProgramBuilder::cell(ValueId like, Tensor initial, bool local) {
  const Value& v = core()[like];
  program_.cells.push_back({v.dtype, v.shape, std::move(initial), local, v.name});
  return CellId{program_.cells.size() - 1};
}

ArrayId ProgramBuilder::array(ValueId like, std::uint32_t unit) {
  program_.arrays.push_back({core()[like].dtype, core()[like].shape, unit});
  return ArrayId{program_.arrays.size() - 1};
}

std::uint32_t ProgramBuilder::site(Span span, std::string message) {
  program_.sites.push_back({span, std::move(message)});
  return static_cast<std::uint32_t>(program_.sites.size() - 1);
}

void ProgramBuilder::sites() {
  for (std::size_t i = 0; i < core().values.size(); ++i) {
    const auto* a = std::get_if<core::Apply>(&core().values[i].rhs);
    if (a == nullptr || !operators()[a->op].can_fail) continue;
    const bool index = operators()[a->op].lowering == Lowering::index;
    program_.value_sites[i] = site(core().values[i].span, index ? "index out of bounds" : "division by zero");
  }
  for (const CoreAssert& a : core().asserts) asserts_of_[a.condition.index].push_back(site(a.span, a.message));
}

steps::Operand ProgramBuilder::operand(ValueId v, ClockId reader_clock) {
  const StreamSource source = schedule_.sources[v.index];
  QueueId& q = queue_of_[source.value.index];
  if (!q.valid()) {
    q = QueueId{program_.queues.size()};
    const Value& s = core()[source.value];
    program_.queues.push_back({s.dtype, s.shape, 0, {}, false, s.name});
  }
  steps::QueueInfo& queue = program_.queues[q.index];
  queue.skips.push_back(source.skip);
  steps::Operand o{v, q, queue.readers++, {}, {}};
  for (const steps::Test& t : clock_path(core(), reader_clock, core()[v].clock))
    o.when.emplace_back(t.condition, t.positive);
  return o;
}

// Units read from queues what others compute; in straight programs nothing does.
void ProgramBuilder::storage() {
  program_.units.resize(schedule_.units.size());
  for (std::size_t u = 0; u < schedule_.units.size(); ++u) {
    const ScheduledUnit& from = schedule_.units[u];
    steps::Unit& to = program_.units[u];
    to.clock = from.clock;
    to.segmented = from.segmented;
    to.name = core().entry + "_unit" + std::to_string(u);
    if (schedule_.straight) continue;
    for (std::size_t k = 0; k < from.operands.size(); ++k) {
      to.operands.push_back(operand(from.operands[k], from.clock));
      for (const Literal& l : from.needed[k]) to.operands.back().needed.emplace_back(l.condition, l.positive);
      if (!from.needed[k].empty()) program_.queues[to.operands.back().queue.index].overtaken = true;
    }
  }
  if (schedule_.straight) {
    for (std::size_t o = 0; o < core().outputs.size(); ++o)
      outputs_of_[core().outputs[o].value.index].push_back(static_cast<std::uint32_t>(o));
  } else {
    emitter();
  }
}

void ProgramBuilder::emitter() {
  std::map<ValueId, std::uint32_t> index;
  auto add = [&](ValueId v) {
    if (const auto at = index.find(v); at != index.end()) return at->second;
    const auto k = static_cast<std::uint32_t>(program_.emitter.operands.size());
    program_.emitter.operands.push_back(operand(v, base_clock));
    return index[v] = k;
  };
  for (std::size_t o = 0; o < core().outputs.size(); ++o) {
    const ValueId v = core().outputs[o].value;
    if (core()[v].clock == never_clock) continue;
    for (const steps::Test& t : clock_path(core(), base_clock, core()[v].clock)) add(t.condition);
    program_.emitter.outputs.emplace_back(static_cast<std::uint32_t>(o), add(v));
  }
}

void ProgramBuilder::inputs() {
  program_.input_queues.assign(core().inputs.size(), {});
  program_.input_flags.assign(core().inputs.size(), {});
  if (schedule_.straight) return;
  for (std::size_t i = 0; i < core().inputs.size(); ++i) {
    const ValueId v = core().inputs[i].value;
    if (schedule_.is_base_input(v)) {
      program_.input_queues[i] = queue_of_[v.index];
      continue;
    }
    const std::uint32_t u = schedule_.unit_of[v.index];
    if (u == Schedule::nowhere) continue;
    program_.input_queues[i] = QueueId{program_.queues.size()};
    program_.queues.push_back({core()[v].dtype, core()[v].shape, 1, {0}, false, core().inputs[i].name});
    program_.input_flags[i] = QueueId{program_.queues.size()};
    program_.queues.push_back({DType::boolean, {}, 1, {0}, false, core().inputs[i].name + " present"});
    program_.units[u].raw_inputs.push_back(static_cast<std::uint32_t>(i));
  }
}

// An input on a sub-clock: present exactly where every condition of its clock holds.
void ProgramBuilder::read_input(StepWriter& out, const TestPath& clock, ValueId v) {
  const std::uint32_t input = std::get<core::Input>(core()[v].rhs).index;
  for (std::size_t k = 0; k < clock.size(); ++k) {
    TestPath off(clock.begin(), clock.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    off.back().positive = !off.back().positive;
    out.write(off, steps::Expect{input, false});
  }
  out.write(clock, steps::Expect{input, true});
  out.write(clock, steps::LoadInput{v});
}

void ProgramBuilder::compute(StepWriter& out, const TestPath& clock, const TestPath& where, ValueId v) {
  const TestPath path = clock + where;
  const auto& rhs = core()[v].rhs;
  if (std::holds_alternative<core::Input>(rhs)) {
    read_input(out, clock, v);
  } else if (const auto* w = std::get_if<core::When>(&rhs)) {
    out.write(path, steps::Copy{v, w->operand});
  } else if (const auto* m = std::get_if<core::Merge>(&rhs)) {
    out.write(path + TestPath{{steps::Test::value, m->condition, true}}, steps::Copy{v, m->on_true});
    out.write(path + TestPath{{steps::Test::value, m->condition, false}}, steps::Copy{v, m->on_false});
  } else if (!std::holds_alternative<core::Result>(rhs)) {
    out.write(path, steps::Compute{v});
  }
  for (std::uint32_t s : asserts_of_[v.index]) out.write(path, steps::Assert{v, s});
}

bool ProgramBuilder::handed_out(ValueId v) const {
  return !outputs_of_[v.index].empty() || (queue_of_[v.index].valid() && !schedule_.is_base_input(v));
}

void ProgramBuilder::hand_out(StepWriter& out, const TestPath& path, ValueId v) {
  for (std::uint32_t o : outputs_of_[v.index]) out.write(path, steps::StoreOutput{o, v});
  if (queue_of_[v.index].valid() && !schedule_.is_base_input(v)) out.write(path, steps::Push{queue_of_[v.index], v});
}

void ProgramBuilder::forward_unit(std::uint32_t index) {
  const ScheduledUnit& from = schedule_.units[index];
  steps::Unit& to = program_.units[index];
  StepWriter out(to.instant);
  // The stores that wait: for the next value, or (tensors) for the end of the block.
  std::map<ValueId, std::vector<std::pair<ValueId, CellId>>> waiting;   // by next value
  std::vector<std::pair<ValueId, CellId>> at_end;                       // (next, cell)
  std::vector<bool> defined(core().values.size());
  auto path = [&](ValueId v) { return clock_path(core(), from.clock, core()[v].clock); };
  auto store = [&](ValueId fby, ValueId next, CellId cell) {
    if (core()[next].shape.empty()) out.write(path(fby), steps::StoreCell{cell, next});
    else at_end.emplace_back(next, cell);
  };
  std::map<std::uint32_t, ValueId> fby_of_cell;
  for (ValueId v : from.operands) {
    defined[v.index] = true;
    if (schedule_.straight) out.write({}, steps::LoadInput{v});
  }
  for (ValueId v : from.values) {
    const auto* f = std::get_if<core::Fby>(&core()[v].rhs);
    if (f == nullptr) {
      compute(out, path(v), {}, v);
    } else {
      const bool constant = core().is_const(f->init);
      const CellId c = cell(v, constant ? std::get<core::Const>(core()[f->init].rhs).value : Tensor(), false);
      fby_of_cell[c.index] = v;
      if (constant) {
        out.write(path(v), steps::LoadCell{v, c});
      } else {
        const TestPath start = path(f->init);
        TestPath later = start;
        later.back().positive = !later.back().positive;
        out.write(start, steps::Copy{v, f->init});
        out.write(later, steps::LoadCell{v, c});
      }
      for (std::uint32_t s : asserts_of_[v.index]) out.write(path(v), steps::Assert{v, s});
      if (core().is_const(f->next) || defined[f->next.index] || f->next == v) store(v, f->next, c);
      else waiting[f->next].emplace_back(v, c);
    }
    defined[v.index] = true;
    hand_out(out, path(v), v);
    if (const auto at = waiting.find(v); at != waiting.end())
      for (const auto& [fby, c] : at->second) store(fby, v, c);
  }
  for (const auto& [next, c] : at_end) out.write(path(fby_of_cell.at(c.index)), steps::StoreCell{c, next});
  if (schedule_.straight)
    for (ValueId v : from.operands) hand_out(out, {}, v);
}

steps::Program ProgramBuilder::build() {
  sites();
  storage();
  inputs();
  for (std::uint32_t u = 0; u < schedule_.units.size(); ++u) {
    if (schedule_.units[u].segmented) build_segmented_unit(*this, u);
    else forward_unit(u);
  }
  if (!schedule_.straight) return std::move(program_);
  // Outputs that are inputs, or constants, and that no unit mentions.
  if (program_.units.empty()) {
    program_.units.emplace_back();
    program_.units[0].clock = base_clock;
    program_.units[0].name = core().entry + "_unit0";
  }
  StepWriter out(program_.units[0].instant);
  for (std::size_t o = 0; o < core().outputs.size(); ++o) {
    const ValueId v = core().outputs[o].value;
    const bool mentioned = schedule_.unit_of[v.index] != Schedule::nowhere ||
                           (!schedule_.units.empty() && std::ranges::find(schedule_.units[0].operands, v) !=
                                                            schedule_.units[0].operands.end());
    if (mentioned || core()[v].clock == never_clock) continue;
    if (!core().is_const(v)) out.write({}, steps::LoadInput{v});
    out.write({}, steps::StoreOutput{static_cast<std::uint32_t>(o), v});
  }
  return std::move(program_);
}

steps::Program build_steps(const Schedule& schedule) { return ProgramBuilder(schedule).build(); }

}  // namespace rml
