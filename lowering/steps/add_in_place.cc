// Moves a segment's product to the sweep that adds it to a memory, as in a parameter's update at the end of a segment:
//
//   cell 7 := sum of array 3 times array 1        cell 4 += sum of array 3 times array 1
//   each instant:                            =>   each instant:
//     g := cell 7                                   (nothing)
//     if first { w := cell 4; w2 := add w g; cell 4 := w2 }
//
// Until then cell 4 keeps its old value, and no other statement of the sweep may name it.
#include "lowering/steps/add_in_place.h"

#include <algorithm>
#include <optional>

#include "lowering/steps/mentions.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

using steps::Block;

bool names(const steps::Statement& s, CellId cell) {
  bool found = false;
  each_cell(s, [&](CellId named, CellUse) { found = found || named == cell; });
  return found;
}

class Updates {
 public:
  Updates(steps::Program& program, steps::Unit& unit) : program_(program), core_(*program.core), unit_(unit) {
    for (const steps::Sweep& sweep : unit.sweeps) mentions_.push_back(count_mentions(core_, sweep.body));
  }

  bool run() {
    bool found = false;
    for (std::size_t p = 0; p < unit_.sweeps.size(); ++p)
      for (std::size_t k = 0; k < unit_.sweeps[p].prologue.statements.size();) {
        const auto* product = std::get_if<steps::SegmentProduct>(&unit_.sweeps[p].prologue.statements[k]);
        const auto update = product == nullptr ? std::nullopt : update_by(*product, p);
        if (!update) {
          ++k;
          continue;
        }
        take(p, k, *update);
        found = true;
      }
    return found;
  }

 private:
  struct Update {
    std::size_t sweep;
    Block* block;
    std::size_t store;  // index of the store in its block
    CellId cell;
  };

  std::optional<Update> update_by(const steps::SegmentProduct& product, std::size_t from) {
    if (!product.sum.valid() || product.onto.valid() || !product.a.array.valid() || !product.b.array.valid()) return {};
    const std::size_t uses = count(product.sum);
    for (std::size_t p = from; p < unit_.sweeps.size(); ++p)
      for (const steps::Statement& s : unit_.sweeps[p].body.statements) {
        const auto* load = std::get_if<steps::LoadCell>(&s);
        if (load == nullptr || load->cell != product.sum) continue;
        return uses == 2 && once(load->value, p) ? added(load->value, p) : std::nullopt;
      }
    return {};
  }

  // The update that adds g to a cell at the first instant.
  std::optional<Update> added(ValueId g, std::size_t sweep) {
    for (steps::Statement& s : unit_.sweeps[sweep].body.statements) {
      auto* branch = std::get_if<steps::Branch>(&s);
      if (branch == nullptr || branch->test.kind != steps::Test::first) continue;
      Block& block = *branch->then_block;
      for (std::size_t k = 0; k < block.statements.size(); ++k) {
        const auto* store = std::get_if<steps::StoreCell>(&block.statements[k]);
        if (store == nullptr || !once(store->value, sweep)) continue;
        if (adds(sweep, block, store->value, g, store->cell) && only_here(sweep, store->cell))
          return Update{sweep, &block, k, store->cell};
      }
    }
    return {};
  }

  // True for sum = cell + g, in either order, if no other statement of the sweep reads these values.
  bool adds(std::size_t sweep, const Block& block, ValueId sum, ValueId g, CellId cell) const {
    const auto computed = [&](const steps::Statement& s) {
      const auto* c = std::get_if<steps::Compute>(&s);
      return c != nullptr && c->value == sum;
    };
    const auto* apply = apply_of(core_, sum);
    if (apply == nullptr || std::ranges::none_of(block.statements, computed)) return false;
    const OperatorInfo& op = operators()[apply->op];
    if (op.lowering != Lowering::elementwise || op.scalar != ScalarOp::add || !is_float(core_[sum].dtype)) return false;
    const auto is_gradient = [&](ValueId v) { return copied(sweep, block, v) == g; };
    const auto is_memory = [&](ValueId v) {
      return std::ranges::any_of(block.statements, [&](const steps::Statement& s) {
        const auto* load = std::get_if<steps::LoadCell>(&s);
        return load != nullptr && load->value == v && load->cell == cell && once(v, sweep);
      });
    };
    const ValueId a = apply->operands[0], b = apply->operands[1];
    if (core_[a].shape != core_[b].shape) return false;
    return (is_gradient(a) && is_memory(b)) || (is_gradient(b) && is_memory(a));
  }
  ValueId copied(std::size_t sweep, const Block& block, ValueId v) const {
    for (const steps::Statement& s : block.statements)
      if (const auto* copy = std::get_if<steps::Copy>(&s); copy != nullptr && copy->to == v)
        return once(v, sweep) ? copy->from : ValueId();
    return v;
  }

  bool once(ValueId v, std::size_t sweep) const {
    const auto at = mentions_[sweep].find(v);
    return at != mentions_[sweep].end() && at->second == 1;
  }

  // True if the sweep names the cell only in the update.
  bool only_here(std::size_t sweep, CellId cell) {
    std::size_t named = 0;
    const auto look = [&](const steps::Statement& s) { named += names(s, cell) ? 1 : 0; };
    each_statement(unit_.sweeps[sweep].prologue, look);
    each_statement(unit_.sweeps[sweep].body, look);
    return named == 2;
  }
  std::size_t count(CellId cell) {
    std::size_t named = 0;
    for (steps::Unit& u : program_.units)
      each_block(
          u, [&](Block& b) { each_statement(b, [&](const steps::Statement& s) { named += names(s, cell) ? 1 : 0; }); });
    return named;
  }

  void take(std::size_t sweep, std::size_t at, const Update& update) {
    std::vector<steps::Statement>& from = unit_.sweeps[sweep].prologue.statements;
    steps::SegmentProduct product = std::get<steps::SegmentProduct>(from[at]);
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
    product.onto = update.cell;
    unit_.sweeps[update.sweep].prologue.statements.emplace_back(product);
    update.block->statements.erase(update.block->statements.begin() + static_cast<std::ptrdiff_t>(update.store));
  }

  steps::Program& program_;
  const Core& core_;
  steps::Unit& unit_;
  std::vector<std::map<ValueId, std::uint32_t>> mentions_;  // one map per sweep: how often its body mentions each value
};

}  // namespace

bool add_in_place(steps::Program& program) {
  bool found = false;
  for (steps::Unit& unit : program.units)
    if (unit.segmented) found = Updates(program, unit).run() || found;
  return found;
}

}  // namespace rml
