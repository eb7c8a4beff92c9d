// Walks each block backwards: a value is used if a later statement that is kept reads it.
//
// Without this, whole tensors would be copied for nothing where a memory rarely changes:
//
//   forward sweep: p := cell 4; if first { q := cell 7; cell 4 := q; next := q } else { next := p }
//
// No statement reads `next`, so p is not loaded. In the same way, an element that no statement of a unit reads is not
// read from its queue, nor pushed there for the unit: a segment's product over all instants no longer needs the zeros
// with which its sum began.
#include "lowering/steps/drop_unused.h"

#include <algorithm>
#include <functional>
#include <set>

#include "lowering/steps/mentions.h"

namespace rml {

namespace {

// A set of values. Clearing it takes no longer than filling it took.
class Marks {
 public:
  explicit Marks(std::size_t values) : is_marked_(values) {}
  bool operator[](ValueId v) const { return is_marked_[v.index]; }
  void mark(ValueId v) {
    if (is_marked_[v.index]) return;
    is_marked_[v.index] = true;
    all_.push_back(v);
  }
  void move_to(Marks& other) {
    for (const ValueId v : all_) other.mark(v), is_marked_[v.index] = false;
    all_.clear();
  }
  void forget() {
    for (const ValueId v : all_) is_marked_[v.index] = false;
    all_.clear();
  }

 private:
  std::vector<bool> is_marked_;  // one per ValueId: true if a statement uses the value
  std::vector<ValueId> all_;
};

class Walk {
 public:
  // popped: by QueueId, whether any unit reads it. used: gets the used values, and is empty at first. `effects`:
  // computations with effects are kept.
  Walk(const Core& core, const std::vector<bool>& popped, Marks& used, bool effects = true)
      : core_(core), popped_(popped), used_(used), effects_(effects) {}

  void block(steps::Block& block) {
    std::vector<steps::Statement> kept;
    while (!block.statements.empty()) {
      steps::Statement s = std::move(block.statements.back());
      block.statements.pop_back();
      if (std::visit([&](auto& x) { return keep(x); }, s)) kept.push_back(std::move(s));
    }
    std::ranges::reverse(kept);
    block.statements = std::move(kept);
  }

 private:
  bool used(ValueId v) const { return used_[v]; }
  bool use(ValueId v) {
    if (!v.valid()) return true;
    used_.mark(v);
    if (const auto* result = std::get_if<core::Result>(&core_[v].rhs)) used_.mark(result->call);
    return true;
  }

  bool keep(const steps::Compute& s) {
    if (!used(s.value) && !matters(s.value)) return false;
    for_each_operand(core_[s.value].rhs, [&](ValueId o) { use(o); });
    return true;
  }
  bool keep(const steps::Copy& s) { return used(s.to) && use(s.from); }
  bool keep(const steps::LoadCell& s) const { return used(s.value); }
  bool keep(const steps::LoadArray& s) const { return used(s.value); }
  bool keep(const steps::StoreCell& s) { return use(s.value); }
  bool keep(const steps::StoreArray& s) { return use(s.value); }
  bool keep(const steps::Push& s) { return popped_[s.queue.index] && use(s.value); }
  bool keep(const steps::StoreOutput& s) { return use(s.value); }
  bool keep(const steps::Assert& s) { return use(s.condition); }
  bool keep(const steps::SegmentProduct& s) {
    use(s.a.held);
    return use(s.b.held);
  }
  bool keep(const steps::MarkLast& s) { return use(s.condition); }
  bool keep(const steps::Branch& s) {
    block(*s.then_block);
    block(*s.else_block);
    return (!s.then_block->statements.empty() || !s.else_block->statements.empty()) && use(s.test.condition);
  }
  template <class Other>
  bool keep(const Other&) const {
    return true;
  }

  // True if computing v may have an effect: its operator may fail, draw random numbers or check loaded values, and the
  // C code of a call may do anything.
  bool matters(ValueId v) const { return effects_ && !core_.is_const(v) && !only_computes(core_, v); }

  const Core& core_;
  const std::vector<bool>& popped_;
  Marks& used_;
  const bool effects_;
};

// Calls f with every cell that a statement names.
template <class F>
void each_cell(steps::Block& block, const F& f) {
  const auto in = [&]<class S>(S& s) {
    if constexpr (std::is_same_v<S, steps::LoadCell> || std::is_same_v<S, steps::StoreCell> ||
                  std::is_same_v<S, steps::SideCell>)
      f(s.cell);
    else if constexpr (std::is_same_v<S, steps::MoveCell>)
      f(s.to), f(s.from);
    else if constexpr (std::is_same_v<S, steps::SegmentProduct>)
      f(s.sum), f(s.onto);
    else if constexpr (std::is_same_v<S, steps::Branch>)
      each_cell(*s.then_block, f), each_cell(*s.else_block, f);
  };
  for (steps::Statement& s : block.statements) std::visit(in, s);
}

// Removes cells that no statement names, except those through which parameters are loaded and saved.
void drop_cells(steps::Program& program) {
  const auto each = [&](const auto& f) {
    const auto valid = [&](CellId& cell) {
      if (cell.valid()) f(cell);
    };
    for (steps::Unit& unit : program.units) each_block(unit, [&](steps::Block& b) { each_cell(b, valid); });
    for (steps::ParameterInfo& parameter : program.parameters) valid(parameter.cell);
  };
  std::vector<bool> named(program.cells.size());
  each([&](CellId cell) { named[cell.index] = true; });
  std::vector<CellId> now(program.cells.size());
  std::vector<steps::CellInfo> kept;
  for (std::size_t k = 0; k < named.size(); ++k) {
    if (!named[k]) continue;
    now[k] = CellId(kept.size());
    kept.push_back(std::move(program.cells[k]));
  }
  program.cells = std::move(kept);
  each([&](CellId& cell) { cell = now[cell.index]; });
}

// Removes operands that no statement reads and that do not determine the presence of others, if another operand still
// drives the unit.
void drop_operands(steps::Unit& unit, Marks& used) {
  const auto paces = [](const steps::Operand& o) { return o.when.empty(); };
  for (std::size_t k = unit.operands.size(); k-- > 0;) {
    const steps::Operand& o = unit.operands[k];
    const bool alone = paces(o) && unit.raw_inputs.empty() && std::ranges::count_if(unit.operands, paces) == 1;
    if (!used[o.value] && !alone) {
      unit.operands.erase(unit.operands.begin() + static_cast<std::ptrdiff_t>(k));
      continue;
    }
    for (const auto* conditions : {&o.when, &o.needed})
      for (const auto& [condition, positive] : *conditions) used.mark(condition);
  }
}

// Removes queues without readers, and renumbers the readers of the others.
void drop_queues(steps::Program& program, const std::vector<bool>& popped) {
  std::vector<QueueId> now(program.queues.size());
  std::vector<steps::QueueInfo> kept;
  for (std::size_t q = 0; q < now.size(); ++q) {
    if (!popped[q]) continue;
    now[q] = QueueId(kept.size());
    kept.push_back(std::move(program.queues[q]));
  }
  program.queues = std::move(kept);
  const auto each = [&](const auto& f) {
    for (steps::Unit& unit : program.units) std::ranges::for_each(unit.operands, f);
    std::ranges::for_each(program.emitter.operands, f);
  };
  std::vector<std::set<std::uint32_t>> readers(program.queues.size());
  each([&](steps::Operand& o) {
    o.queue = now[o.queue.index];
    readers[o.queue.index].insert(o.reader);
  });
  for (std::size_t q = 0; q < readers.size(); ++q) {
    if (readers[q].empty()) continue;  // the queue of an input, from which a statement takes elements, is kept
    steps::QueueInfo& queue = program.queues[q];
    std::vector<std::uint32_t> skips;
    for (const std::uint32_t r : readers[q]) skips.push_back(r < queue.skips.size() ? queue.skips[r] : 0);
    queue.skips = std::move(skips);
    queue.readers = static_cast<std::uint32_t>(readers[q].size());
  }
  each([&](steps::Operand& o) {
    const std::set<std::uint32_t>& all = readers[o.queue.index];
    o.reader = static_cast<std::uint32_t>(std::distance(all.begin(), all.find(o.reader)));
  });
  for (auto* list : {&program.input_queues, &program.input_flags})
    for (QueueId& q : *list)
      if (q.valid()) q = now[q.index];
  std::function<void(steps::Block&)> rename = [&](steps::Block& block) {
    for (steps::Statement& s : block.statements) {
      if (auto* push = std::get_if<steps::Push>(&s)) push->queue = now[push->queue.index];
      if (auto* b = std::get_if<steps::Branch>(&s)) rename(*b->then_block), rename(*b->else_block);
    }
  };
  for (steps::Unit& unit : program.units) each_block(unit, rename);
}

}  // namespace

void keep_outputs(const Core& core, steps::Block& block) {
  Marks used(core.values.size());
  Walk(core, {}, used, false).block(block);
}

// Removes unused values. Visits the units backwards, because they follow those whose values they read.
void drop_unused(steps::Program& program) {
  std::vector<bool> popped(program.queues.size());
  for (const steps::Operand& o : program.emitter.operands) popped[o.queue.index] = true;
  // Keeps queues with a first element: units before the one that writes them read delayed streams.
  for (std::size_t q = 0; q < popped.size(); ++q)
    if (program.queues[q].first.valid()) popped[q] = true;
  // `used`: values that the unit uses; `found`: values that one of its blocks uses.
  Marks used(program.core->values.size()), found = used;
  for (auto unit = program.units.rbegin(); unit != program.units.rend(); ++unit) {
    for (const std::uint32_t input : unit->raw_inputs)
      for (const auto* list : {&program.input_queues, &program.input_flags})
        if (input < list->size() && (*list)[input].valid()) popped[(*list)[input].index] = true;
    const auto walk = [&](std::initializer_list<steps::Block*> blocks) {
      for (steps::Block* block : blocks) {
        Walk(*program.core, popped, found).block(*block);
        found.move_to(used);
      }
    };
    walk({&unit->before, &unit->instant, &unit->commit});
    // A prologue sets only cells, so it is visited after the body.
    for (steps::Sweep& sweep : unit->sweeps) walk({&sweep.body, &sweep.prologue});
    drop_operands(*unit, used);
    used.forget();
    for (const steps::Operand& o : unit->operands) popped[o.queue.index] = true;
  }
  drop_cells(program);
  if (!program.straight) drop_queues(program, popped);
}

}  // namespace rml
