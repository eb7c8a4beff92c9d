// Tests each cell that is loaded once and stored once, by a unit without segments, under the same tests.
#include "lowering/steps/find_windows.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "lowering/steps/mentions.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

// True for the slice of `rows` whole rows of a tensor from `start` on.
bool keeps(const Shape& whole, const core::Apply& slice, std::int64_t start, std::int64_t rows) {
  const auto ranges = std::get<0>(slice_ranges(whole, slice.attributes));
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    const bool first = axis == 0;
    if (ranges[axis].step != 1 || ranges[axis].start != (first ? start : 0) ||
        ranges[axis].count != (first ? rows : whole[axis]))
      return false;
  }
  return true;
}

using Windows = std::map<ValueId, steps::Window>;

class WindowFinder {
 public:
  WindowFinder(const steps::Program& p, const Target& target)
      : program_(p), core_(*p.core), target_(target), cells_(p.cells.size()) {}

  Windows run() {
    for (std::size_t k = 0; k < program_.cells.size(); ++k) cells_[k].touched = !fits(program_.cells[k]);
    for (const steps::ParameterInfo& p : program_.parameters)
      if (p.cell.valid()) cells_[p.cell.index].touched = true;
    for (const steps::Unit& u : program_.units) {
      note(u.before, true);
      note(u.instant, u.segmented);
      for (const steps::Sweep& p : u.sweeps) note(p.prologue, true), note(p.body, true);
      note(u.commit, true);
    }
    // A value that the lead computes as well cannot advance the ring of a window.
    each_statement(program_.lead, [&](const steps::Statement& s) {
      if (const auto* compute = std::get_if<steps::Compute>(&s)) in_lead_.insert(compute->value);
    });
    Windows windows;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      const Cell& c = cells_[k];
      if (c.touched || in_lead_.contains(c.stored) || !c.loaded.valid() || !c.stored.valid()) continue;
      if (auto window = find(CellId(k), c)) windows.emplace(c.stored, *window);
    }
    if (!windows.empty()) drop_used_elsewhere(windows);
    return windows;
  }

 private:
  using Path = std::vector<std::pair<ValueId, bool>>;
  struct Cell {
    ValueId loaded, stored;
    Path store_path;
    bool touched = false;  // true if something besides one load and one store uses the cell
  };

  // True if the tensor is large enough. Smaller ones are kept in registers or on the stack.
  bool fits(const steps::CellInfo& cell) const {
    return !cell.local && !cell.shape.empty() && element_count(cell.shape).value_or(0) > target_.stack_elements;
  }

  void note(const steps::Block& block, bool segmented) {
    for (const steps::Statement& s : block.statements) {
      if (const auto* load = std::get_if<steps::LoadCell>(&s)) {
        Cell& c = cells_[load->cell.index];
        c.touched = c.touched || segmented || c.loaded.valid();
        c.loaded = load->value;
      } else if (const auto* store = std::get_if<steps::StoreCell>(&s)) {
        Cell& c = cells_[store->cell.index];
        c.touched = c.touched || segmented || c.stored.valid();
        c.stored = store->value;
        c.store_path = path_;
        ++uses_[store->value];
      } else if (const auto* branch = std::get_if<steps::Branch>(&s)) {
        segmented = segmented || branch->test.kind != steps::Test::value;
        path_.emplace_back(branch->test.condition, branch->test.positive);
        note(*branch->then_block, segmented);
        path_.back().second = !path_.back().second;
        note(*branch->else_block, segmented);
        path_.pop_back();
      } else {
        each_cell(s, [&](CellId cell, CellUse) { cells_[cell.index].touched = true; });
        note_value(s);
      }
    }
  }

  void note_value(const steps::Statement& s) {
    if (const auto* compute = std::get_if<steps::Compute>(&s)) computed_.emplace(compute->value, path_);
    // A cell that is copied cannot be a window.
    if (const auto* copy = std::get_if<steps::Copy>(&s)) ++uses_[copy->from], ++uses_[copy->to];
    if (const auto* array = std::get_if<steps::StoreArray>(&s)) ++uses_[array->value];
    if (const auto* push = std::get_if<steps::Push>(&s)) ++uses_[push->value];
    if (const auto* output = std::get_if<steps::StoreOutput>(&s)) ++uses_[output->value];
  }

  bool inlined(ValueId v) const { return v.index < program_.inlined.size() && program_.inlined[v.index]; }

  std::optional<steps::Window> find(CellId cell, const Cell& c) const {
    const auto at = computed_.find(c.stored);
    if (inlined(c.stored) || at == computed_.end() || at->second != c.store_path) return std::nullopt;
    const std::optional<Move> move = as_move(core_, c.stored);
    if (!move || move->from != c.loaded || !inlined(move->kept)) return std::nullopt;
    if (core_[c.stored].shape[0] / move->rows < target_.fewest_moves) return std::nullopt;
    return steps::Window{cell, move->entering, move->rows, move->newest_first};
  }

  // Removes windows whose loaded value has other users: the ring may have advanced before they read it.
  void drop_used_elsewhere(Windows& windows) {
    for (std::size_t k = 0; k < core_.values.size(); ++k)
      for_each_operand(core_.values[k].rhs, [&](ValueId o) { ++uses_[o]; });
    std::erase_if(windows, [&](const auto& entry) {
      const Move move = *as_move(core_, entry.first);
      return uses_[move.from] > 1 || uses_[move.kept] > 1;
    });
  }

  const steps::Program& program_;
  const Core& core_;
  const Target& target_;
  std::vector<Cell> cells_;
  std::map<ValueId, Path> computed_;  // the path on which each value is computed
  std::map<ValueId, int> uses_;
  std::set<ValueId> in_lead_;
  Path path_;
};

}  // namespace

std::optional<Move> as_move(const Core& core, ValueId v) {
  const Shape& shape = core[v].shape;
  const core::Apply* concat = apply_of(core, v, Lowering::concat);
  if (concat == nullptr || concat->operands.size() != 2 ||
      normalized_axis(concat->attributes[0].integers[0], shape.size()) != 0u)
    return std::nullopt;
  for (const bool newest_first : {true, false}) {
    const ValueId kept = concat->operands[newest_first ? 1 : 0], entering = concat->operands[newest_first ? 0 : 1];
    const core::Apply* slice = apply_of(core, kept, Lowering::slice);
    if (slice == nullptr || core[slice->operands[0]].shape != shape) continue;
    const std::int64_t rows = core[entering].shape[0];
    if (rows < 1 || rows >= shape[0] || shape[0] % rows != 0) continue;
    if (keeps(shape, *slice, newest_first ? 0 : rows, shape[0] - rows))
      return Move{slice->operands[0], kept, entering, rows, newest_first};
  }
  return std::nullopt;
}

std::map<ValueId, steps::Window> find_windows(const steps::Program& program, const Target& target) {
  return WindowFinder(program, target).run();
}

}  // namespace rml
