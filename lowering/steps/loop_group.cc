// Groups loops by list scheduling.
//
// Some statements keep their order (stores of cells, branches, statements that may fail, …). Between them,
// computations, loads, outputs and stores into arrays are ordered by their operands alone. Among the ready statements,
// one that joins the current loop comes first; then those that are no loops; then the next loop in the order of the
// text.
//
// The next value of a cell is computed after all statements that read the old one, so that it can be computed in place.
// But it comes before statements that may stop the run, if it may stop the run itself, and before a store to another
// cell that it reads:
//
//   %4 := cell[0]; %6 := add %4 %5; %7 := sum %4; cell[0] := %6        %7 comes before %6
#include "lowering/steps/loop_group.h"

#include <algorithm>
#include <functional>
#include <map>

#include "lowering/steps/index_map.h"
#include "lowering/steps/mentions.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

bool inlined(const steps::Program& p, ValueId v) { return v.index < p.inlined.size() && p.inlined[v.index]; }

// Follows inlined values down to members. `same`: element i of the loop reads element i of v.
bool reads_well(const steps::Program& p, const std::set<ValueId>& members, const Shape& shape, ValueId v, bool same) {
  const Core& core = *p.core;
  const core::Apply& a = *apply_of(core, v);
  const Lowering lowering = operators()[a.op].lowering;
  return std::ranges::all_of(a.operands, [&](ValueId o) {
    const bool here = same && (lowering == Lowering::elementwise || is_reduction(lowering)) && core[o].shape == shape;
    if (inlined(p, o)) return apply_of(core, o) == nullptr || reads_well(p, members, shape, o, here);
    if (!members.contains(o)) return true;
    return here && !is_reduction(operators()[apply_of(core, o)->op].lowering);
  });
}

// True if the loops of v compute a product: then they are the loops of the product.
bool has_product(const steps::Program& p, ValueId v) {
  const core::Apply* a = apply_of(*p.core, v);
  return a != nullptr && std::ranges::any_of(a->operands, [&](ValueId o) {
           if (!inlined(p, o)) return false;
           const core::Apply* inner = apply_of(*p.core, o);
           return (inner != nullptr && operators()[inner->op].lowering == Lowering::matmul) || has_product(p, o);
         });
}

class Grouping {
 public:
  Grouping(steps::Program& p, const Target& target)
      : program_(p), core_(*p.core), target_(target), mentions_(count_mentions(p)) {}

  void run() {
    for (steps::Unit& u : program_.units) each_block(u, [&](steps::Block& b) { order(b); });
  }

 private:
  bool movable(const steps::Statement& s) const {
    if (std::holds_alternative<steps::LoadCell>(s) || std::holds_alternative<steps::LoadArray>(s) ||
        std::holds_alternative<steps::StoreArray>(s) || std::holds_alternative<steps::StoreOutput>(s))
      return true;
    const auto* c = std::get_if<steps::Compute>(&s);
    if (c == nullptr) return false;
    return core_.is_const(c->value) || only_computes(core_, c->value);
  }

  struct Updates {
    std::map<ValueId, std::set<CellId>> cells;  // indexed by update: the cells that store it
    // By value: the cells from which it, or the whole of which it is a part, is loaded.
    std::map<ValueId, std::set<CellId>> lies_in;
  };

  // The updates of a block: elementwise values, and others that are computed in place, whose only uses are stores to
  // cells or other updates; and the values computed inside their loops.
  std::set<ValueId> updates(const steps::Block& block) const {
    std::set<ValueId> found;
    std::map<ValueId, std::uint32_t> taken;
    for (auto s = block.statements.rbegin(); s != block.statements.rend(); ++s) {
      if (const auto* store = std::get_if<steps::StoreCell>(&*s)) ++taken[store->value];
      const auto* c = std::get_if<steps::Compute>(&*s);
      if (c == nullptr || !taken.contains(c->value) || taken[c->value] != mentions_[c->value.index]) continue;
      // An inlined value is computed in the loops of its readers. It counts as an update if all of them are updates: a
      // loop that stays where it is reads the operands of the value as well.
      const bool inside = inlined(program_, c->value);
      if (!inside && !in_place(c->value) && (!loop_shape(core_, c->value, target_) || !is_pointwise(core_, c->value)))
        continue;
      found.insert(c->value);
      if (const core::Apply* a = apply_of(core_, c->value); a != nullptr)
        for (const ValueId o : a->operands) ++taken[o];
    }
    return found;
  }

  bool in_place(ValueId v) const {
    const core::Apply* a = apply_of(core_, v);
    return a != nullptr && operators()[a->op].in_place;
  }

  // The operand with the indices at which the update writes.
  ValueId indices_of(ValueId update) const {
    const core::Apply& at = *apply_of(core_, update);
    std::size_t operand = 0;
    for (const OperatorParameter& p : operators()[at.op].parameters) {
      if (p.kind != ParameterKind::operand) continue;
      if (p.name == "i") return at.operands[operand];
      ++operand;
    }
    return {};
  }

  // True if an update that can fail may be computed after the statement without a change of the first fault. The
  // statement must not fail, or must check the same indices. The contents of cells after a fault are not observable.
  bool stops_no_sooner(const steps::Statement& s, ValueId indices) const {
    if (const auto* b = std::get_if<steps::Branch>(&s))
      return std::ranges::all_of(b->then_block->statements,
                                 [&](const auto& t) { return stops_no_sooner(t, indices); }) &&
             std::ranges::all_of(b->else_block->statements, [&](const auto& t) { return stops_no_sooner(t, indices); });
    const auto* c = std::get_if<steps::Compute>(&s);
    if (c == nullptr)
      return movable(s) || std::holds_alternative<steps::Copy>(s) || std::holds_alternative<steps::StoreCell>(s) ||
             std::holds_alternative<steps::MoveCell>(s);
    if (!can_fail(core_, c->value)) return true;
    const core::Apply* a = apply_of(core_, c->value);
    return a != nullptr && indices.valid() && std::ranges::find(a->operands, indices) != a->operands.end();
  }

  // Adds the cells from which the loop of v reads operands.
  void add_cells(ValueId v, const Updates& updates, std::set<CellId>& cells) const {
    for_each_operand(core_[v].rhs, [&](ValueId o) {
      if (const auto at = updates.lies_in.find(o); at != updates.lies_in.end())
        cells.insert(at->second.begin(), at->second.end());
      if (inlined(program_, o) || is_part(core_, o)) add_cells(o, updates, cells);
    });
  }

  // An update that is being moved down.
  struct Moving {
    ValueId value;
    std::set<CellId> cells;  // the cells that the update reads
    bool fails;
    ValueId indices;
  };
  // The statements of a block that an update may not pass, by position.
  struct Barriers {
    std::map<ValueId, std::vector<std::size_t>> readers;  // the updates that read a value
    std::map<CellId, std::vector<std::size_t>> writers;
    std::vector<std::size_t> products;  // they write arrays as well as cells
  };
  Barriers find_barriers(const std::vector<steps::Statement>& all, const std::set<ValueId>& values) const {
    Barriers found;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (const auto* c = std::get_if<steps::Compute>(&all[k]); c != nullptr && values.contains(c->value))
        for_each_operand(core_[c->value].rhs, [&](ValueId o) { found.readers[o].push_back(k); });
      std::set<CellId> written;
      if (add_written(all[k], written)) found.products.push_back(k);
      for (const CellId cell : written) found.writers[cell].push_back(k);
    }
    return found;
  }
  // Adds the cells that the statement writes. True if it contains a product of a segment.
  static bool add_written(const steps::Statement& s, std::set<CellId>& cells) {
    bool product = std::holds_alternative<steps::SegmentProduct>(s);
    if (const auto* b = std::get_if<steps::Branch>(&s))
      for (const auto* block : {&*b->then_block, &*b->else_block})
        for (const steps::Statement& inner : block->statements) product |= add_written(inner, cells);
    each_cell(s, [&](CellId cell, CellUse use) {
      if (use == CellUse::writes) cells.insert(cell);
    });
    return product;
  }

  // The position before which the update at position k must be computed, at most `end`: the first fault stays the same,
  // and no cell that it reads is overwritten. `goes`: where the updates behind k are moved.
  std::size_t latest(std::size_t k, std::size_t end, const Moving& update, const std::vector<steps::Statement>& all,
                     const Barriers& barriers, const std::map<std::size_t, std::size_t>& goes) const {
    const auto stop = [&](std::size_t at) {
      const auto moved = goes.find(at);
      end = std::min(end, moved == goes.end() ? at : moved->second);
    };
    const auto stop_at_first = [&](const std::vector<std::size_t>& positions) {
      if (const auto at = std::ranges::upper_bound(positions, k); at != positions.end()) stop(*at);
    };
    if (const auto readers = barriers.readers.find(update.value); readers != barriers.readers.end())
      std::ranges::for_each(std::ranges::upper_bound(readers->second, k), readers->second.end(), stop);
    for (const CellId cell : update.cells)
      if (const auto writers = barriers.writers.find(cell); writers != barriers.writers.end())
        stop_at_first(writers->second);
    stop_at_first(barriers.products);
    for (std::size_t next = k + 1; update.fails && next < end; ++next)
      if (!stops_no_sooner(all[next], update.indices)) stop(next);
    return end;
  }
  // Moves updates down to the first store of any of them, or to the first statement that must follow them.
  Updates delay(steps::Block& block) const {
    Updates found;
    const std::set<ValueId> values = updates(block);
    if (values.empty()) return found;
    std::size_t first = SIZE_MAX;
    std::vector<steps::Statement>& all = block.statements;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (const auto* l = std::get_if<steps::LoadCell>(&all[k])) found.lies_in[l->value] = {l->cell};
      if (const auto* c = std::get_if<steps::Compute>(&all[k]); c != nullptr && values.contains(c->value))
        found.cells[c->value];
      const auto* store = std::get_if<steps::StoreCell>(&all[k]);
      if (store == nullptr || !values.contains(store->value)) continue;
      found.cells[store->value].insert(store->cell);
      first = std::min(first, k);
    }
    std::map<std::size_t, std::vector<std::size_t>> before;  // indexed by position: the updates to insert there, in
                                                             // reverse order
    std::map<std::size_t, std::size_t> goes;
    const Barriers barriers = find_barriers(all, values);
    for (std::size_t k = std::min(first, all.size()); k-- > 0;) {
      const auto* c = std::get_if<steps::Compute>(&all[k]);
      if (c == nullptr || !values.contains(c->value)) continue;
      const bool fails = can_fail(core_, c->value);
      Moving update{c->value, {}, fails, fails ? indices_of(c->value) : ValueId{}};
      add_cells(c->value, found, update.cells);
      const std::size_t end = latest(k, first, update, all, barriers, goes);
      before[end].push_back(k);
      goes[k] = end;
    }
    std::vector<steps::Statement> ordered;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (const auto here = before.find(k); here != before.end())
        for (auto update = here->second.rbegin(); update != here->second.rend(); ++update)
          ordered.push_back(std::move(all[*update]));
      if (!goes.contains(k)) ordered.push_back(std::move(all[k]));
    }
    all = std::move(ordered);
    return found;
  }

  // Calls wait(reader, update) for the statements of the run that read the old value of a cell, and for the update that
  // computes the new one.
  void wait_for_readers(const std::vector<steps::Statement>& run, Updates& updates,
                        const std::function<void(std::size_t, std::size_t)>& wait) const {
    if (updates.cells.empty()) return;
    std::map<CellId, std::vector<std::size_t>> readers;
    for (std::size_t k = 0; k < run.size(); ++k) {
      const auto* c = std::get_if<steps::Compute>(&run[k]);
      if (c == nullptr) continue;
      std::set<CellId> cells;
      for_each_operand(core_[c->value].rhs, [&](ValueId o) {
        if (const auto at = updates.lies_in.find(o); at != updates.lies_in.end())
          cells.insert(at->second.begin(), at->second.end());
      });
      if (inlined(program_, c->value) || is_part(core_, c->value)) updates.lies_in[c->value] = cells;
      if (const auto own = updates.cells.find(c->value); own != updates.cells.end()) {
        for (const CellId cell : own->second)
          for (const std::size_t reader : readers[cell]) wait(reader, k);
      } else if (!inlined(program_, c->value)) {
        for (const CellId cell : cells) readers[cell].push_back(k);
      }
    }
  }

  void order(steps::Block& block) {
    Updates updates = delay(block);
    std::vector<steps::Statement> result, run;
    for (steps::Statement& s : block.statements) {
      if (movable(s)) {
        run.push_back(std::move(s));
        continue;
      }
      flush(run, result, updates);
      if (auto* b = std::get_if<steps::Branch>(&s)) {
        order(*b->then_block);
        order(*b->else_block);
      }
      result.push_back(std::move(s));
    }
    flush(run, result, updates);
    block.statements = std::move(result);
  }

  static ValueId defined(const steps::Statement& s) {
    if (const auto* c = std::get_if<steps::Compute>(&s)) return c->value;
    if (const auto* l = std::get_if<steps::LoadCell>(&s)) return l->value;
    if (const auto* l = std::get_if<steps::LoadArray>(&s)) return l->value;
    return {};
  }

  std::optional<Shape> shape_of(const steps::Statement& s) const {
    const auto* c = std::get_if<steps::Compute>(&s);
    if (c == nullptr || inlined(program_, c->value) || has_product(program_, c->value)) return std::nullopt;
    return loop_shape(core_, c->value, target_);
  }

  // For a run: which statements wait for which others.
  struct Waiting {
    std::vector<std::vector<std::size_t>> users;
    std::vector<std::size_t> waits;  // one per statement: number of statements that it still waits for
    void add(std::size_t user, std::size_t on) {
      users[on].push_back(user);
      ++waits[user];
    }
  };
  Waiting find_waiting(const std::vector<steps::Statement>& run, Updates& updates) const {
    std::map<ValueId, std::size_t> definition;
    for (std::size_t k = 0; k < run.size(); ++k)
      if (const ValueId v = defined(run[k]); v.valid()) definition[v] = k;
    Waiting found{std::vector<std::vector<std::size_t>>(run.size()), std::vector<std::size_t>(run.size())};
    const auto need = [&](std::size_t k, ValueId o) {
      if (const auto at = definition.find(o); at != definition.end() && at->second < k) found.add(k, at->second);
    };
    for (std::size_t k = 0; k < run.size(); ++k) {
      if (const auto* c = std::get_if<steps::Compute>(&run[k]))
        for_each_operand(core_[c->value].rhs, [&](ValueId o) { need(k, o); });
      if (const auto* s = std::get_if<steps::StoreArray>(&run[k])) need(k, s->value);
      if (const auto* s = std::get_if<steps::StoreOutput>(&run[k])) need(k, s->value);
    }
    wait_for_readers(run, updates, [&](std::size_t reader, std::size_t update) { found.add(update, reader); });
    return found;
  }

  // A group of loops under construction, and the ready statements of the run.
  struct Group {
    std::set<std::size_t> loops, free, others;  // statements that are ready, by kind
    // The ready loops of each shape. Loops that cannot join the group wait in `refused` until it is complete: a group
    // that grows does not accept them later.
    std::map<Shape, std::set<std::size_t>> by_shape;
    std::vector<std::size_t> refused;
    Shape shape;
    std::set<ValueId> members;
  };
  // The next statement of the group: first inlined values and loads, which are free and make others ready, then a loop
  // that joins. Nothing if the group is complete.
  std::optional<std::size_t> next_in_group(const std::vector<steps::Statement>& run, Group& group) const {
    if (!group.free.empty()) return *group.free.begin();
    if (group.members.empty()) return std::nullopt;
    std::set<std::size_t>& candidates = group.by_shape[group.shape];
    while (!candidates.empty()) {
      const std::size_t k = *candidates.begin();
      if (joins(program_, group.members, defined(run[k]), target_)) return k;
      group.refused.push_back(k);
      candidates.erase(k);
    }
    return std::nullopt;
  }

  void flush(std::vector<steps::Statement>& run, std::vector<steps::Statement>& result, Updates& updates) {
    Waiting waiting = find_waiting(run, updates);
    std::vector<std::optional<Shape>> shapes;
    for (const steps::Statement& s : run) shapes.push_back(shape_of(s));
    Group group;
    const auto release = [&](std::size_t k) {
      (shapes[k] ? group.loops : free(run[k]) ? group.free : group.others).insert(k);
      if (shapes[k]) group.by_shape[*shapes[k]].insert(k);
    };
    for (std::size_t k = 0; k < run.size(); ++k)
      if (waiting.waits[k] == 0) release(k);
    while (!group.loops.empty() || !group.free.empty() || !group.others.empty()) {
      std::optional<std::size_t> next = next_in_group(run, group);
      if (!next) {
        close(group.members);
        for (const std::size_t k : group.refused) group.by_shape[*shapes[k]].insert(k);
        group.refused.clear();
        next = group.others.empty() ? *group.loops.begin() : *group.others.begin();
      }
      if (shapes[*next]) {
        group.shape = *shapes[*next];
        group.members.insert(defined(run[*next]));
        group.by_shape[group.shape].erase(*next);
      }
      group.loops.erase(*next), group.free.erase(*next), group.others.erase(*next);
      for (const std::size_t k : waiting.users[*next])
        if (--waiting.waits[k] == 0) release(k);
      result.push_back(std::move(run[*next]));
    }
    close(group.members);
    run.clear();
  }

  bool free(const steps::Statement& s) const {
    const auto* c = std::get_if<steps::Compute>(&s);
    if (c != nullptr) return inlined(program_, c->value);
    return !std::holds_alternative<steps::StoreArray>(s) && !std::holds_alternative<steps::StoreOutput>(s);
  }

  // Members that only members read, each through the loop, need no memory.
  void close(std::set<ValueId>& members) {
    std::map<ValueId, std::uint32_t> reads;
    if (members.size() > 1)
      for (const ValueId m : members) count_reads(m, reads);
    for (const auto& [v, count] : reads)
      if (members.contains(v) && count == mentions_[v.index] && is_pointwise(core_, v))
        program_.inlined[v.index] = true;
    members.clear();
  }
  void count_reads(ValueId v, std::map<ValueId, std::uint32_t>& reads) const {
    for (const ValueId o : apply_of(core_, v)->operands) {
      ++reads[o];
      if (inlined(program_, o) && apply_of(core_, o) != nullptr && reads[o] == 1) count_reads(o, reads);
    }
  }

  steps::Program& program_;
  const Core& core_;
  const Target& target_;
  std::vector<std::uint32_t> mentions_;
};

}  // namespace

std::optional<Shape> loop_shape(const Core& core, ValueId v, const Target& target) {
  const core::Apply* a = apply_of(core, v);
  if (a == nullptr || can_fail(core, v)) return std::nullopt;
  const Lowering lowering = operators()[a->op].lowering;
  const Shape& shape = is_reduction(lowering) ? core[a->operands[0]].shape : core[v].shape;
  if (!is_reduction(lowering) && (!is_pointwise(core, v) || lowering == Lowering::reshape)) return std::nullopt;
  if (*element_count(shape) <= target.unrolled_elements || *element_count(core[v].shape) == 0) return std::nullopt;
  return shape;
}

bool joins(const steps::Program& p, const std::set<ValueId>& members, ValueId v, const Target& target) {
  const auto shape = loop_shape(*p.core, v, target);
  return shape && !has_product(p, v) && reads_well(p, members, *shape, v, true);
}

void group_loops(steps::Program& program, const Target& target) { Grouping(program, target).run(); }

}  // namespace rml
