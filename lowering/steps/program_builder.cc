// Creates storage first: a queue for every stream that crosses units, the inputs, and the emitter of rows. Units add
// their cells and arrays later.
#include "lowering/steps/program_builder.h"

#include <algorithm>
#include <set>

#include "lowering/schedule/clock_path.h"
#include "semantics/core/queries.h"
#include "semantics/time/memories.h"

namespace rml {

namespace {

// True if the unit reads the tensor `v` only at the first cycle: it samples v there and does not use it otherwise.
bool only_at_start(const Core& core, const ScheduledUnit& unit, ValueId v) {
  if (core[v].shape.empty() || core[v].clock != base_clock) return false;
  return std::ranges::all_of(unit.values, [&](ValueId user) {
    bool uses = false;
    for_each_operand(core[user].rhs, [&](ValueId o) { uses = uses || o == v; });
    const auto* w = std::get_if<core::When>(&core[user].rhs);
    return !uses || (w != nullptr && w->positive && is_start(core, w->condition));
  });
}

// Renames storage so that names are unique. Parameters keep their names.
void make_names_unique(steps::Program& program) {
  std::set<std::string> taken;
  for (const steps::ParameterInfo& p : program.parameters) taken.insert(p.path);
  std::set<std::uint32_t> parameters;
  for (const steps::ParameterInfo& p : program.parameters)
    if (p.cell.valid()) parameters.insert(p.cell.index);
  UniqueNames names(std::move(taken));
  for (std::size_t k = 0; k < program.cells.size(); ++k)
    if (!program.cells[k].local && !parameters.contains(static_cast<std::uint32_t>(k)))
      names.make_unique(program.cells[k].name);
  for (steps::QueueInfo& queue : program.queues) names.make_unique(queue.name);
  for (steps::ArrayInfo& array : program.arrays) names.make_unique(array.name);
}

}  // namespace

ProgramBuilder::ProgramBuilder(const Schedule& schedule, const Streams& streams, bool network)
    : schedule_(schedule), streams_(streams) {
  program_.core = schedule.core;
  program_.straight = schedule.straight;
  program_.network = network;
  const std::size_t n = core().values.size();
  queue_of_.resize(n);
  outputs_of_.resize(n);
  asserts_of_.resize(n);
  program_.inlined.assign(n, false);
  program_.value_sites.assign(n, UINT32_MAX);
  add_sites();
  add_units();
  add_inputs();
  if (!schedule_.straight && !network) find_passing();
}

steps::Program ProgramBuilder::finish() && {
  add_parameters();
  make_names_unique(program_);
  return std::move(program_);
}

CellId ProgramBuilder::cell(ValueId fby, Tensor initial) {
  const Value& v = core()[fby];
  program_.cells.push_back({v.dtype, v.shape, std::move(initial), false, memory_name(core(), fby), fby});
  return cell_of_[fby] = CellId{program_.cells.size() - 1};
}

CellId ProgramBuilder::copy_of(ValueId v, bool local) {
  const Value& like = core()[v];
  const std::string name = local ? like.name : memory_name(core(), v) + " at the segment's start";
  program_.cells.push_back({like.dtype, like.shape, Tensor(), local, name, {}});
  return CellId{program_.cells.size() - 1};
}

CellId ProgramBuilder::flag(bool initial) {
  program_.cells.push_back({DType::boolean, {}, Tensor::boolean(initial), true, "flag", {}});
  return CellId{program_.cells.size() - 1};
}

CellId ProgramBuilder::truth_before(ValueId condition, bool initial) {
  program_.cells.push_back(
      {DType::boolean, {}, Tensor::boolean(initial), false, "before " + describe(core(), condition), {}});
  return CellId{program_.cells.size() - 1};
}

CellId ProgramBuilder::kept(ValueId v) {
  program_.cells.push_back({core()[v].dtype, core()[v].shape, Tensor(), false, "segment " + core()[v].name, {}});
  return CellId{program_.cells.size() - 1};
}

ArrayId ProgramBuilder::array(ValueId like, std::uint32_t unit) {
  program_.arrays.push_back({core()[like].dtype, core()[like].shape, unit, "segment " + core()[like].name});
  return ArrayId{program_.arrays.size() - 1};
}

std::uint32_t ProgramBuilder::site(Span span, std::string message) {
  program_.sites.push_back({span, std::move(message)});
  return static_cast<std::uint32_t>(program_.sites.size() - 1);
}

std::uint32_t ProgramBuilder::cut(Literal l) {
  program_.cuts.push_back({(l.positive ? "" : "not ") + describe(core(), l.condition), core()[l.condition].span});
  return static_cast<std::uint32_t>(program_.cuts.size() - 1);
}

void ProgramBuilder::add_sites() {
  for (std::size_t i = 0; i < core().values.size(); ++i) {
    const auto* a = apply_of(core(), ValueId{i});
    if (a == nullptr || !can_fail(core(), ValueId(i))) continue;
    program_.value_sites[i] = site(core().values[i].span, std::string(operators()[a->op].failure));
  }
  for (const CoreAssert& a : core().asserts) asserts_of_[a.condition.index].push_back(site(a.span, a.message));
}

// Makes an operand. A belated one is read with the element of the next instant.
steps::Operand ProgramBuilder::operand(ValueId v, ClockId reader_clock, bool belated) {
  const StreamSource source = schedule_.sources[v.index];
  QueueId& q = queue_of_[source.value.index];
  if (!q.valid()) {
    q = QueueId{program_.queues.size()};
    const Value& s = core()[source.value];
    program_.queues.push_back({s.dtype, s.shape, 0, {}, false, "queue " + s.name});
    if (schedule_.is_delayed(source.value)) {
      program_.queues.back().first = std::get<core::Fby>(s.rhs).init;
      program_.queues.back().fby = source.value;
    }
  }
  steps::QueueInfo& queue = program_.queues[q.index];
  queue.skips.push_back(source.skip - (belated ? 1 : 0));
  steps::Operand o{v, q, queue.readers++, {}, {}};
  o.belated = belated;
  for (const Literal& l : clock_path(core(), reader_clock, core()[v].clock))
    o.when.emplace_back(l.condition, l.positive);
  return o;
}

// Adds the units. They read values of other units from queues; straight programs have none.
void ProgramBuilder::add_units() {
  program_.units.resize(schedule_.units.size());
  for (std::size_t u = 0; u < schedule_.units.size(); ++u) {
    const ScheduledUnit& from = schedule_.units[u];
    steps::Unit& to = program_.units[u];
    to.clock = from.clock;
    to.segmented = from.segmented;
    to.name = core().entry + "_unit" + std::to_string(u);
    if (!schedule_.straight) add_operands(u);
  }
  if (!schedule_.straight) return add_emitter();
  for (std::size_t o = 0; o < core().outputs.size(); ++o)
    outputs_of_[core().outputs[o].value.index].push_back(static_cast<std::uint32_t>(o));
}

void ProgramBuilder::add_operands(std::size_t u) {
  const ScheduledUnit& from = schedule_.units[u];
  steps::Unit& to = program_.units[u];
  for (std::size_t k = 0; k < from.operands.size(); ++k) {
    const ValueId v = from.operands[k];
    if (streams_.settled[v.index]) {
      const std::uint32_t owner = schedule_.unit_of[v.index];
      if (program_.network && std::ranges::find(to.after, owner) == to.after.end()) to.after.push_back(owner);
      continue;
    }
    steps::Operand added = operand(v, from.clock, from.is_belated(v));
    for (const Literal& l : from.needed[k]) added.needed.emplace_back(l.condition, l.positive);
    added.once =
        !from.segmented && from.clock == base_clock && schedule_.is_base_input(v) && only_at_start(core(), from, v);
    if (!added.needed.empty() || added.once) program_.queues[added.queue.index].overtaken = true;
    to.operands.push_back(std::move(added));
  }
}

void ProgramBuilder::add_emitter() {
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
    for (const Literal& l : clock_path(core(), base_clock, core()[v].clock)) add(l.condition);
    program_.emitter.outputs.emplace_back(static_cast<std::uint32_t>(o), add(v));
  }
}

void ProgramBuilder::add_inputs() {
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
    program_.queues.push_back({core()[v].dtype, core()[v].shape, 1, {0}, false, "queue " + core().inputs[i].name});
    program_.input_flags[i] = QueueId{program_.queues.size()};
    program_.queues.push_back({DType::boolean, {}, 1, {0}, false, "presence " + core().inputs[i].name});
    program_.units[u].raw_inputs.push_back(static_cast<std::uint32_t>(i));
  }
}

// Finds inputs that only prompt units read.
void ProgramBuilder::find_passing() {
  std::vector<std::uint32_t> readers(program_.queues.size(), 0);
  for (std::size_t u = 0; u < program_.units.size(); ++u)
    for (const steps::Operand& o : program_.units[u].operands)
      if (streams_.prompt[u] && program_.units[u].clock == base_clock) ++readers[o.queue.index];
  for (std::size_t i = 0; i < core().inputs.size(); ++i) {
    const QueueId q = program_.input_queues[i];
    if (!q.valid() || program_.input_flags[i].valid()) continue;
    steps::QueueInfo& queue = program_.queues[q.index];
    const bool skipping = std::ranges::any_of(queue.skips, [](std::uint32_t n) { return n > 0; });
    queue.passing = !skipping && readers[q.index] == queue.readers;
  }
}

// Reads an input on a sub-clock: it is present exactly where every condition of its clock holds.
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
  check(out, path, v);
}

void ProgramBuilder::check(StepWriter& out, const TestPath& path, ValueId v) {
  for (std::uint32_t s : asserts_of_[v.index]) out.write(path, steps::Assert{v, s});
}

void ProgramBuilder::hand_out(StepWriter& out, const TestPath& path, ValueId v) {
  for (std::uint32_t o : outputs_of_[v.index]) out.write(path, steps::StoreOutput{o, v});
  const bool own = !schedule_.is_base_input(v) && !schedule_.is_delayed(v);
  if (queue_of_[v.index].valid() && own) out.write(path, steps::Push{queue_of_[v.index], v});
}

void ProgramBuilder::hand_out_next(StepWriter& out, const TestPath& path, ValueId memory, ValueId next) {
  if (queue_of_[memory.index].valid()) out.write(path, steps::Push{queue_of_[memory.index], next});
}

// Lists every remaining `param` operator, with the cell of its parameter.
void ProgramBuilder::add_parameters() {
  for (const Parameter& p : core().parameters) {
    const Value& v = core()[p.value];
    const auto kept = cell_of_.find(p.value);
    const CellId cell = kept == cell_of_.end() ? CellId{} : kept->second;
    const std::size_t before = program_.parameters.size();
    for (std::size_t i = 0; i < core().values.size(); ++i) {
      const auto* a = apply_of(core(), ValueId{i});
      if (a == nullptr || operators()[a->op].lowering != Lowering::parameter || a->key != path_key(p.path)) continue;
      program_.parameters.push_back({p.path, v.dtype, v.shape, ValueId{i}, cell});
    }
    if (program_.parameters.size() == before) program_.parameters.push_back({p.path, v.dtype, v.shape, {}, cell});
  }
}

}  // namespace rml
