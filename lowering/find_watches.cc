// The order of computation is that of the statements, unit after unit and pass after pass.
#include "lowering/find_watches.h"

#include <algorithm>

namespace rml {

namespace {

class Order {
 public:
  explicit Order(const steps::Program& program) : places_(program.core->values.size(), SIZE_MAX) {
    for (const steps::Unit& unit : program.units) {
      walk(unit.instant);
      for (const steps::Pass& pass : unit.passes) {
        walk(pass.prologue);
        walk(pass.body);
      }
    }
  }
  // What no statement computes (an input, a stream read ahead) comes last.
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

}  // namespace

std::vector<Watch> find_watches(const steps::Program& program) {
  const Core& core = *program.core;
  std::vector<Watch> watches;
  for (std::size_t k = 0; k < program.cells.size(); ++k) {
    const steps::CellInfo& cell = program.cells[k];
    if (!cell.fby.valid() || !is_float(cell.dtype)) continue;
    const auto* f = std::get_if<core::Fby>(&core[cell.fby].rhs);
    const bool computed = f != nullptr && f->next != cell.fby && !core.is_const(f->next);
    const ValueId stored = computed ? f->next : cell.fby;
    watches.push_back({UINT32_MAX, CellId{k}, stored, core[stored].name.empty() ? cell.fby : stored});
  }
  for (std::size_t o = 0; o < core.outputs.size(); ++o) {
    const ValueId v = core.outputs[o].value;
    if (is_float(core[v].dtype)) watches.push_back({static_cast<std::uint32_t>(o), {}, v, v});
  }
  const Order order(program);
  std::ranges::stable_sort(watches, {}, [&](const Watch& w) { return order.of(w.value); });
  return watches;
}

}  // namespace rml
