// One walk backwards over a block: a value is used if a statement behind it, that stays, says so.
//
// Where nothing happens at most instants, whole tensors would be copied for nothing:
//
//   forward pass: p := cell 4; if first { q := cell 7; cell 4 := q; next := q } else { next := p }
//
// Nobody looks at `next`, so p is not loaded.
#include "lowering/drop_unused.h"

#include <algorithm>

#include "lowering/mentions.h"

namespace rml {

namespace {

class Walk {
 public:
  explicit Walk(const Core& core) : core_(core), used_(core.values.size()) {}

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
  bool used(ValueId v) const { return used_[v.index]; }
  bool use(ValueId v) {
    if (v.valid()) used_[v.index] = true;
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
  bool keep(const steps::Push& s) { return use(s.value); }
  bool keep(const steps::StoreOutput& s) { return use(s.value); }
  bool keep(const steps::Assert& s) { return use(s.condition); }
  bool keep(const steps::Side& s) { return use(s.condition); }
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

  // Whether computing v does more than that. Its own operator may fail, draw or look at what was loaded;
  // a call's C code may do anything.
  bool matters(ValueId v) const { return !core_.is_const(v) && !only_computes(core_, v); }

  const Core& core_;
  std::vector<bool> used_;
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
      f(s.sum);
    else if constexpr (std::is_same_v<S, steps::Branch>)
      each_cell(*s.then_block, f), each_cell(*s.else_block, f);
  };
  for (steps::Statement& s : block.statements) std::visit(in, s);
}

// Cells that no statement names, but for those through which parameters are given and told.
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

}  // namespace

void drop_unused(steps::Program& program) {
  for (steps::Unit& unit : program.units) {
    Walk(*program.core).block(unit.instant);
    for (steps::Pass& pass : unit.passes) {
      // What the prologue sets are cells.
      Walk(*program.core).block(pass.body);
      Walk(*program.core).block(pass.prologue);
    }
    Walk(*program.core).block(unit.commit);
  }
  drop_cells(program);
}

}  // namespace rml
