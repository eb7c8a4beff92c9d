// Storage first: a queue for every stream that crosses units, with one reader per use; then
// the units one by one, and what hands rows out.
//
// In a forward unit values are written in schedule order. A fby is read where it is
// scheduled and written as soon as both it has been read and its next value is known; a
// tensor only at the end of the block, since its readers may still look at the cell.
#include "lowering/build_steps.h"

#include <algorithm>
#include <map>
#include <set>

#include "lowering/step_writer.h"
#include "semantics/queries.h"

namespace rml {

ProgramBuilder::ProgramBuilder(const Schedule& schedule, const StepOptions& options)
    : schedule_(schedule), options_(options) {
  program_.core = schedule.core;
  program_.straight = schedule.straight;
  program_.network = options.network;
  const std::size_t n = core().values.size();
  queue_of_.resize(n);
  outputs_of_.resize(n);
  asserts_of_.resize(n);
  settled_.resize(n);
  tells_clock_.resize(n);
  defined_in_.resize(n);
  for (const Clock& c : core().clocks)
    if (c.condition.valid()) tells_clock_[c.condition.index] = true;
  program_.inlined.assign(n, false);
  program_.value_sites.assign(n, UINT32_MAX);
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

void ProgramBuilder::sites() {
  for (std::size_t i = 0; i < core().values.size(); ++i) {
    const auto* a = std::get_if<core::Apply>(&core().values[i].rhs);
    if (a == nullptr || !can_fail(core(), ValueId(i))) continue;
    program_.value_sites[i] = site(core().values[i].span, std::string(operators()[a->op].failure));
  }
  for (const CoreAssert& a : core().asserts) asserts_of_[a.condition.index].push_back(site(a.span, a.message));
}

steps::Operand ProgramBuilder::operand(ValueId v, ClockId reader_clock) {
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
  queue.skips.push_back(source.skip);
  steps::Operand o{v, q, queue.readers++, {}, {}};
  for (const steps::Test& t : clock_path(core(), reader_clock, core()[v].clock))
    o.when.emplace_back(t.condition, t.positive);
  return o;
}

void ProgramBuilder::find_settled() {
  std::vector<bool> immediate(schedule_.units.size());  // all is there as soon as a cycle is pushed
  prompt_.assign(schedule_.units.size(), false);        // every operand is
  const auto at_once = [&](ValueId v) {
    const StreamSource from = schedule_.sources[v.index];
    const std::uint32_t unit = schedule_.unit_of[from.value.index];
    return from.skip == 0 && (unit == Schedule::nowhere || immediate[unit]);
  };
  for (std::size_t u = 0; u < schedule_.units.size(); ++u) {
    const ScheduledUnit& unit = schedule_.units[u];
    prompt_[u] = std::ranges::all_of(unit.operands, at_once);
    immediate[u] = !unit.segmented && prompt_[u];
    if (!immediate[u]) continue;
    for (const ValueId v : unit.values) {
      const auto* f = std::get_if<core::Fby>(&core()[v].rhs);
      settled_[v.index] = f != nullptr && core()[v].clock == base_clock && !core()[v].shape.empty() &&
                          !what_changes(core(), v, f->next).next.valid();
    }
  }
}

namespace {

// Whether a unit looks at the tensor `v` only at the first cycle: it samples it there and does nothing else with it.
bool only_at_start(const Core& core, const ScheduledUnit& unit, ValueId v) {
  if (core[v].shape.empty() || core[v].clock != base_clock) return false;
  return std::ranges::all_of(unit.values, [&](ValueId user) {
    bool uses = false;
    for_each_operand(core[user].rhs, [&](ValueId o) { uses = uses || o == v; });
    const auto* w = std::get_if<core::When>(&core[user].rhs);
    return !uses || (w != nullptr && w->positive && is_start(core, w->condition));
  });
}

}  // namespace

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
      if (settled(from.operands[k])) {
        const std::uint32_t owner = schedule_.unit_of[from.operands[k].index];
        if (options_.network && std::ranges::find(to.after, owner) == to.after.end()) to.after.push_back(owner);
        continue;
      }
      to.operands.push_back(operand(from.operands[k], from.clock));
      for (const Literal& l : from.needed[k]) to.operands.back().needed.emplace_back(l.condition, l.positive);
      steps::Operand& added = to.operands.back();
      added.once = !from.segmented && from.clock == base_clock && schedule_.is_base_input(added.value) &&
                   only_at_start(core(), from, added.value);
      if (!added.needed.empty() || added.once) program_.queues[added.queue.index].overtaken = true;
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
    program_.queues.push_back({core()[v].dtype, core()[v].shape, 1, {0}, false, "queue " + core().inputs[i].name});
    program_.input_flags[i] = QueueId{program_.queues.size()};
    program_.queues.push_back({DType::boolean, {}, 1, {0}, false, "presence " + core().inputs[i].name});
    program_.units[u].raw_inputs.push_back(static_cast<std::uint32_t>(i));
  }
}

// Inputs that are read by prompt units alone.
void ProgramBuilder::find_passing() {
  std::vector<std::uint32_t> readers(program_.queues.size(), 0);
  for (std::size_t u = 0; u < program_.units.size(); ++u)
    for (const steps::Operand& o : program_.units[u].operands)
      if (prompt_[u] && program_.units[u].clock == base_clock) ++readers[o.queue.index];
  for (std::size_t i = 0; i < core().inputs.size(); ++i) {
    const QueueId q = program_.input_queues[i];
    if (!q.valid() || program_.input_flags[i].valid()) continue;
    steps::QueueInfo& queue = program_.queues[q.index];
    const bool skipping = std::ranges::any_of(queue.skips, [](std::uint32_t n) { return n > 0; });
    queue.passing = !skipping && readers[q.index] == queue.readers;
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
  check(out, path, v);
}

void ProgramBuilder::check(StepWriter& out, const TestPath& path, ValueId v) {
  for (std::uint32_t s : asserts_of_[v.index]) out.write(path, steps::Assert{v, s});
}

bool ProgramBuilder::handed_out(ValueId v) const {
  return !outputs_of_[v.index].empty() ||
         (queue_of_[v.index].valid() && !schedule_.is_base_input(v) && !schedule_.is_delayed(v));
}

void ProgramBuilder::hand_out(StepWriter& out, const TestPath& path, ValueId v) {
  for (std::uint32_t o : outputs_of_[v.index]) out.write(path, steps::StoreOutput{o, v});
  const bool own = !schedule_.is_base_input(v) && !schedule_.is_delayed(v);
  if (queue_of_[v.index].valid() && own) out.write(path, steps::Push{queue_of_[v.index], v});
}

void ProgramBuilder::hand_out_next(StepWriter& out, const TestPath& path, ValueId memory, ValueId next) {
  if (queue_of_[memory.index].valid()) out.write(path, steps::Push{queue_of_[memory.index], next});
}

namespace {

// The blocks of one forward unit, value after value.
class ForwardUnit {
 public:
  ForwardUnit(ProgramBuilder& builder, const ScheduledUnit& from, steps::Unit& to)
      : builder_(builder), core_(builder.core()), from_(from), out_(to.instant) {}

  void build() {
    const bool straight = builder_.schedule().straight;
    find_lazy();
    for (ValueId v : from_.values)
      if (builder_.schedule().is_delayed(v)) delayed_[std::get<core::Fby>(core_[v].rhs).next].push_back(v);
    for (ValueId v : from_.operands) {
      builder_.define(v);
      if (straight) out_.write({}, steps::LoadInput{v});
      if (builder_.settled(v)) out_.write({}, steps::LoadCell{v, builder_.settled_cell(v)});
    }
    for (ValueId v : from_.values)
      if (!builder_.schedule().is_delayed(v) || looks_at(v)) add(v);
    for (const Store& s : at_end_) write_store(s);
    if (straight)
      for (ValueId v : from_.operands) builder_.hand_out(out_, {}, v);
  }

 private:
  struct Store {
    ValueId fby, next;
    CellId cell;
  };

  bool looks_at(ValueId memory) const {
    return builder_.tells_clock(memory) || std::ranges::any_of(from_.values, [&](ValueId v) {
             bool looks = false;
             for_each_operand(core_[v].rhs, [&](ValueId o) { looks = looks || o == memory; });
             return looks;
           });
  }

  TestPath path(ValueId v) const { return path(core_[v].clock); }
  TestPath path(ClockId c) const { return clock_path(core_, from_.clock, c); }

  void add(ValueId v) {
    if (const auto* f = std::get_if<core::Fby>(&core_[v].rhs)) {
      add_fby(v, *f);
    } else {
      for_each_operand(core_[v].rhs, [&](ValueId o) { need(o); });
      builder_.compute(out_, path(v), {}, v);
    }
    builder_.define(v);
    builder_.hand_out(out_, path(v), v);
    if (const auto at = delayed_.find(v); at != delayed_.end())
      for (const ValueId memory : at->second) builder_.hand_out_next(out_, path(v), memory, v);
    if (const auto at = waiting_.find(v); at != waiting_.end())
      for (const Store& s : at->second) store(s);
  }

  void add_fby(ValueId v, const core::Fby& f) {
    const bool constant = core_.is_const(f.init);
    const CellId c = builder_.cell(v, constant ? std::get<core::Const>(core_[f.init].rhs).value : Tensor());
    if (constant) {
      if (lazy_.contains(v))
        pending_[v] = c;
      else
        out_.write(path(v), steps::LoadCell{v, c});
    } else {
      need(f.init);
      const TestPath start = path(f.init);
      TestPath later = start;
      later.back().positive = !later.back().positive;
      out_.write(start, steps::Copy{v, f.init});
      out_.write(later, steps::LoadCell{v, c});
    }
    builder_.check(out_, path(v), v);
    const bool known = core_.is_const(f.next) || builder_.defined(f.next) || f.next == v;
    if (known)
      store({v, f.next, c});
    else
      waiting_[f.next].push_back({v, f.next, c});
  }

  // Scalars at once; tensors at the end of the block, so that what was loaded can be read in place.
  void store(const Store& s) {
    need(s.fby);
    need(s.next);
    if (core_[s.next].shape.empty())
      write_store(s);
    else
      at_end_.push_back(s);
  }

  // Where what comes next is what is in the cell, nothing is stored; but at the first instant an
  // initial value that is computed is not in the cell.
  void write_store(const Store& s) {
    const ValueId init = std::get<core::Fby>(core_[s.fby].rhs).init;
    const Change change = what_changes(core_, s.fby, s.next);
    const bool sometimes = !change.next.valid() || !change.where.empty();
    if (sometimes && !core_.is_const(init)) out_.write(path(init), steps::StoreCell{s.cell, s.fby});
    if (change.next.valid()) out_.write(path(s.fby) + change.where, steps::StoreCell{s.cell, change.next});
  }

  // Cells of scalars are loaded where they are first used, and only on the clock of their uses:
  // a register is held for a short time, and a value that is sampled is not loaded elsewhere.
  void find_lazy() {
    for (ValueId v : from_.values)
      if (const auto* f = std::get_if<core::Fby>(&core_[v].rhs); f != nullptr && core_.is_const(f->init))
        if (core_[v].shape.empty() && !builder_.handed_out(v) && !builder_.checked(v) && !builder_.tells_clock(v))
          lazy_.emplace(v, ClockId{});
    for (ValueId user : from_.values) {
      const bool samples = std::holds_alternative<core::When>(core_[user].rhs);
      for_each_operand(core_[user].rhs, [&](ValueId o) {
        const auto at = lazy_.find(o);
        if (at == lazy_.end()) return;
        const ClockId use = samples ? core_[user].clock : core_[o].clock;
        at->second = at->second.valid() ? common_clock(core_, at->second, use) : use;
      });
    }
  }

  void need(ValueId v) {
    const auto at = pending_.find(v);
    if (at == pending_.end()) return;
    ClockId use = lazy_.at(v);
    // A condition that is not known yet cannot be asked.
    for (ClockId c = use; c.valid() && c != from_.clock && core_[c].parent.valid(); c = core_[c].parent)
      if (!builder_.defined(core_[c].condition)) use = core_[c].parent;
    if (use.valid()) out_.write(path(use), steps::LoadCell{v, at->second});
    pending_.erase(at);
  }

  ProgramBuilder& builder_;
  const Core& core_;
  const ScheduledUnit& from_;
  StepWriter out_;
  std::map<ValueId, std::vector<Store>> waiting_;    // for the next value, by it
  std::map<ValueId, std::vector<ValueId>> delayed_;  // memories whose stream goes on with the value, by it
  std::vector<Store> at_end_;
  std::map<ValueId, ClockId> lazy_;    // the clock of all uses; invalid: none
  std::map<ValueId, CellId> pending_;  // not loaded yet
};

}  // namespace

void ProgramBuilder::forward_unit(std::uint32_t index) {
  unit_ = index;
  ForwardUnit(*this, schedule_.units[index], program_.units[index]).build();
}

// Every `param` operator that is left, with the cell of its parameter.
void ProgramBuilder::parameters() {
  for (const Parameter& p : core().parameters) {
    const Value& v = core()[p.value];
    const auto kept = cell_of_.find(p.value);
    const CellId cell = kept == cell_of_.end() ? CellId{} : kept->second;
    const std::size_t before = program_.parameters.size();
    for (std::size_t i = 0; i < core().values.size(); ++i) {
      const auto* a = std::get_if<core::Apply>(&core().values[i].rhs);
      if (a == nullptr || operators()[a->op].lowering != Lowering::parameter || a->key != path_key(p.path)) continue;
      program_.parameters.push_back({p.path, v.dtype, v.shape, ValueId{i}, cell});
    }
    if (program_.parameters.size() == before) program_.parameters.push_back({p.path, v.dtype, v.shape, {}, cell});
  }
}

steps::Program ProgramBuilder::build() {
  sites();
  if (!schedule_.straight) find_settled();
  storage();
  inputs();
  if (!schedule_.straight && !options_.network) find_passing();
  for (std::uint32_t u = 0; u < schedule_.units.size(); ++u) {
    if (schedule_.units[u].segmented)
      build_segmented_unit(*this, u);
    else
      forward_unit(u);
  }
  parameters();
  make_names_unique(program_);
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
                           (!schedule_.units.empty() &&
                            std::ranges::find(schedule_.units[0].operands, v) != schedule_.units[0].operands.end());
    if (mentioned || core()[v].clock == never_clock) continue;
    if (!core().is_const(v)) out.write({}, steps::LoadInput{v});
    out.write({}, steps::StoreOutput{static_cast<std::uint32_t>(o), v});
  }
  return std::move(program_);
}

steps::Program build_steps(const Schedule& schedule, const StepOptions& options) {
  return ProgramBuilder(schedule, options).build();
}

}  // namespace rml
