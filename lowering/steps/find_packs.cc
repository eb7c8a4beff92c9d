// Finds the cells in which values may be, from the loads and copies of each unit; then tests each product.
#include "lowering/steps/find_packs.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lowering/steps/index_map.h"
#include "lowering/steps/mentions.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

// A matrix whose layout suits the product is read in place, unless it would be copied for each product of many rows.
bool worth_it(const steps::Pack& p, const Target& target) {
  if (p.inner < 2 || p.n < target.fewest_packed_columns || p.inner * p.n < target.near_elements) return false;
  return (p.rows > Target::few_rows || p.column != 1) && (p.rows > 1 || p.n >= target.fewest_row_columns);
}

class PackFinder {
 public:
  PackFinder(const steps::Program& p, const Target& target) : program_(p), target_(target) {}

  steps::Packs run() {
    for (const steps::Unit& u : program_.units) {
      note_writes(u.instant);
      for (const steps::Sweep& p : u.sweeps) note_writes(p.body);
    }
    for (const steps::Unit& u : program_.units) {
      unit_ = program_.network ? static_cast<std::uint32_t>(&u - program_.units.data()) : 0;
      cells_.clear();
      for (int round = 0; round < 2; ++round) each_block(u, [&](const steps::Block& b) { note_places(b); });
      each_block(u, [&](const steps::Block& b) { find(b); });
    }
    return std::move(packs_);
  }

 private:
  // Notes cells that change at every instant.
  void note_writes(const steps::Block& block) {
    for (const steps::Statement& s : block.statements)
      each_cell(s, [&](CellId cell, CellUse use) {
        if (use == CellUse::writes) restless_.insert(cell);
      });
  }

  void note_places(const steps::Block& block) {
    for (const steps::Statement& s : block.statements) {
      if (const auto* load = std::get_if<steps::LoadCell>(&s)) cells_[load->value].insert(load->cell);
      if (const auto* copy = std::get_if<steps::Copy>(&s)) {
        const std::set<CellId> from = cells_[copy->from];
        cells_[copy->to].insert(from.begin(), from.end());
      }
      if (const auto* b = std::get_if<steps::Branch>(&s)) note_places(*b->then_block), note_places(*b->else_block);
    }
  }

  void find(const steps::Block& block) {
    for (const steps::Statement& s : block.statements) {
      if (const auto* b = std::get_if<steps::Branch>(&s)) find(*b->then_block), find(*b->else_block);
      if (const auto* c = std::get_if<steps::Compute>(&s)) product(c->value);
    }
  }

  void product(ValueId v) {
    std::optional<PackedMatrix> m = packed_matrix(program_, v);
    const auto at = m && worth_it(m->pack, target_) ? cells_.find(m->lies) : cells_.end();
    if (at == cells_.end() || at->second.size() != 1) return;
    steps::Pack& p = m->pack;
    p.cell = *at->second.begin();
    if (restless_.contains(p.cell) || program_.cells[p.cell.index].local) return;
    p.unit = unit_;
    std::size_t k = 0;
    while (k < packs_.list.size() && packs_.list[k] != p) ++k;
    if (k == packs_.list.size()) packs_.list.push_back(p);
    packs_.of[v] = k;
  }

  const steps::Program& program_;
  const Target& target_;
  std::uint32_t unit_ = 0;
  std::set<CellId> restless_;
  std::map<ValueId, std::set<CellId>> cells_;  // indexed by value: the cells that may contain it
  steps::Packs packs_;
};

}  // namespace

std::optional<PackedMatrix> packed_matrix(const steps::Program& program, ValueId product) {
  const Core& core = *program.core;
  const auto* a = apply_of(core, product, Lowering::matmul);
  if (a == nullptr || !is_float(core[product].dtype)) return std::nullopt;
  const Shape &x = core[a->operands[0]].shape, &y = core[a->operands[1]].shape;
  const bool by_vector = y.size() == 1 || (y.size() == 2 && y[1] == 1);
  const ValueId matrix = a->operands[by_vector ? 0 : 1];
  if (core[matrix].shape.size() != 2 || x.size() > 2) return std::nullopt;
  const auto* t = apply_of(core, matrix, Lowering::transpose);
  const bool transposed = t != nullptr && program.inlined[matrix.index];
  const ValueId lies = transposed ? t->operands[0] : matrix;
  steps::Pack p{{}, core[matrix].shape[0], core[matrix].shape[1], core[lies].shape[1], 1, 0};
  if (transposed) std::swap(p.row, p.column);
  if (by_vector) std::swap(p.inner, p.n), std::swap(p.row, p.column);
  const std::int64_t rows = by_vector || x.size() == 1 ? 1 : x[0];
  if (p.inner < 1 || p.n < 1) return std::nullopt;
  p.rows = std::min(rows, Target::few_rows + 1);
  return PackedMatrix{lies, p};
}

steps::Packs find_packs(const steps::Program& program, const Target& target) {
  return PackFinder(program, target).run();
}

}  // namespace rml
