// Lists watches in the order of computation: that of the statements, unit by unit and sweep by sweep.
#include "lowering/steps/find_watches.h"

#include <algorithm>
#include <map>

namespace rml {

namespace {

class Order {
 public:
  explicit Order(const steps::Program& program) : places_(program.core->values.size(), SIZE_MAX) {
    for (const steps::Unit& unit : program.units) {
      walk(unit.instant);
      for (const steps::Sweep& sweep : unit.sweeps) {
        walk(sweep.prologue);
        walk(sweep.body);
      }
    }
  }
  // Values that no statement computes (an input, a stream read ahead) come last.
  std::size_t of(ValueId v) const { return places_[v.index]; }

 private:
  void walk(const steps::Block& block) {
    for (const steps::Statement& s : block.statements) {
      ++at_;
      if (const auto* branch = std::get_if<steps::Branch>(&s)) {
        walk(*branch->then_block);
        walk(*branch->else_block);
      } else if (const auto* compute = std::get_if<steps::Compute>(&s)) {
        note(compute->value);
      } else if (const auto* copy = std::get_if<steps::Copy>(&s)) {
        note(copy->to);
      }
    }
  }
  void note(ValueId v) { places_[v.index] = std::min(places_[v.index], at_); }

  std::vector<std::size_t> places_;
  std::size_t at_ = 0;
};

// Finds where these memories are in a network. A cell is preferred to a queue, because the task continues with the
// cell's value, while the queue holds the stream for other tasks.
std::vector<steps::Watch> with_places(std::vector<steps::Watch> watches, const steps::Program& program) {
  std::map<ValueId, CellId> cells;
  std::map<ValueId, QueueId> queues;
  for (std::size_t k = 0; k < program.cells.size(); ++k)
    if (program.cells[k].fby.valid()) cells.emplace(program.cells[k].fby, CellId{k});
  for (std::size_t q = 0; q < program.queues.size(); ++q)
    if (program.queues[q].fby.valid()) queues.emplace(program.queues[q].fby, QueueId{q});
  std::erase_if(watches, [&](steps::Watch& w) {
    w.cell = {}, w.queue = {};
    if (!w.fby.valid()) return false;
    if (const auto cell = cells.find(w.fby); cell != cells.end())
      w.cell = cell->second;
    else if (const auto queue = queues.find(w.fby); queue != queues.end())
      w.queue = queue->second;
    return !w.cell.valid() && !w.queue.valid();
  });
  return watches;
}

}  // namespace

std::vector<steps::Watch> find_watches(const steps::Program& program) {
  if (!program.watches.empty()) return with_places(program.watches, program);
  const Core& core = *program.core;
  std::vector<steps::Watch> watches;
  for (std::size_t k = 0; k < program.cells.size(); ++k) {
    const steps::CellInfo& cell = program.cells[k];
    if (!cell.fby.valid() || !is_float(cell.dtype)) continue;
    const auto* f = std::get_if<core::Fby>(&core[cell.fby].rhs);
    const bool computed = f != nullptr && f->next != cell.fby && !core.is_const(f->next);
    const ValueId stored = computed ? f->next : cell.fby;
    watches.push_back({UINT32_MAX, cell.fby, CellId{k}, {}, stored, core[stored].name.empty() ? cell.fby : stored});
  }
  for (std::size_t o = 0; o < core.outputs.size(); ++o) {
    const ValueId v = core.outputs[o].value;
    if (is_float(core[v].dtype)) watches.push_back({static_cast<std::uint32_t>(o), {}, {}, {}, v, v});
  }
  const Order order(program);
  std::ranges::stable_sort(watches, {}, [&](const steps::Watch& w) { return order.of(w.value); });
  return watches;
}

}  // namespace rml
