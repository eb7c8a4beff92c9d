// Where values may lie, by the loads and copies of each unit; then one test per product.
#include "lowering/find_packs.h"

#include <set>

#include "lowering/index_map.h"
#include "lowering/mentions.h"
#include "semantics/queries.h"

namespace rml {

namespace {

// Smaller matrices stay in the nearest cache in any order.
constexpr std::int64_t smallest_pack = 512;
// The sums of a single row fill a few registers, or else wait for each other.
constexpr std::int64_t fewest_columns = 64;

class PackFinder {
 public:
  explicit PackFinder(const steps::Program& p) : program_(p), core_(*p.core) {}

  Packs run() {
    for (const steps::Unit& u : program_.units) {
      note_writes(u.instant);
      for (const steps::Pass& p : u.passes) note_writes(p.body);
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
  // Cells that change at every instant.
  void note_writes(const steps::Block& block) {
    for (const steps::Statement& s : block.statements) {
      if (const auto* store = std::get_if<steps::StoreCell>(&s)) restless_.insert(store->cell);
      if (const auto* move = std::get_if<steps::MoveCell>(&s)) restless_.insert(move->to);
    }
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

  // The cell where a matrix lies, and its strides.
  std::optional<Pack> matrix(ValueId v) const {
    if (core_[v].shape.size() != 2) return std::nullopt;
    const auto* t = apply_of(core_, v, Lowering::transpose);
    const bool transposed = t != nullptr && program_.inlined[v.index];
    const ValueId lies = transposed ? t->operands[0] : v;
    const auto at = cells_.find(lies);
    if (at == cells_.end() || at->second.size() != 1) return std::nullopt;
    const CellId cell = *at->second.begin();
    if (restless_.contains(cell) || program_.cells[cell.index].local) return std::nullopt;
    const Shape& shape = core_[lies].shape;
    Pack p{cell, core_[v].shape[0], core_[v].shape[1], shape[1], 1, 0};
    if (transposed) std::swap(p.row, p.column);
    return p;
  }

  void product(ValueId v) {
    const auto* a = apply_of(core_, v, Lowering::matmul);
    if (a == nullptr || !is_float(core_[v].dtype)) return;
    const Shape &x = core_[a->operands[0]].shape, &y = core_[a->operands[1]].shape;
    const bool by_vector = y.size() == 1 || (y.size() == 2 && y[1] == 1);
    std::optional<Pack> p = matrix(a->operands[by_vector ? 0 : 1]);
    if (!p || x.size() > 2) return;
    if (by_vector) std::swap(p->inner, p->n), std::swap(p->row, p->column);
    const std::int64_t rows = by_vector || x.size() == 1 ? 1 : x[0];
    // What lies well is read there, unless it would be copied for each product of many rows.
    if (p->inner < 2 || p->n < 8 || p->inner * p->n < smallest_pack || (rows <= 4 && p->column == 1)) return;
    if (rows == 1 && p->n < fewest_columns) return;
    p->rows = std::min<std::int64_t>(rows, 5);
    p->unit = unit_;
    std::size_t k = 0;
    while (k < packs_.list.size() && packs_.list[k] != *p) ++k;
    if (k == packs_.list.size()) packs_.list.push_back(*p);
    packs_.of[v] = k;
  }

  const steps::Program& program_;
  const Core& core_;
  std::uint32_t unit_ = 0;
  std::set<CellId> restless_;
  std::map<ValueId, std::set<CellId>> cells_;  // in which a value may lie
  Packs packs_;
};

}  // namespace

Packs find_packs(const steps::Program& program) { return PackFinder(program).run(); }

}  // namespace rml
