// Groups of loops, by list scheduling.
//
// Between statements whose order matters (stores of cells, branches, what may fail, …), computations, loads, outputs
// and stores into arrays are ordered by their operands alone. Of those that are ready, one that joins the loop at hand
// comes first; then what is no loop; then the next loop in the order of the text.
//
// What cells have next is computed last, after all that looks at what they have, so that it can be computed there:
//
//   %4 := cell[0]; %6 := add %4 %5; %7 := sum %4; cell[0] := %6        %7 comes before %6
#include "lowering/steps/loop_group.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>

#include "lowering/steps/index_map.h"
#include "lowering/steps/mentions.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

bool inlined(const steps::Program& p, ValueId v) { return v.index < p.inlined.size() && p.inlined[v.index]; }

// Through inlined values, down to members: `same` while element i of the loop reads element i.
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

// A product among what the loops of v compute on their way: then they are the loops of the product.
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
    std::map<ValueId, std::set<CellId>> cells;    // that take it
    std::map<ValueId, std::set<CellId>> lies_in;  // what is loaded from cells, and parts of it
  };

  // Elementwise values, and others that are computed in place, that only cells take, or such values, and what is
  // computed inside their loops.
  std::set<ValueId> updates(const steps::Block& block) const {
    std::set<ValueId> found;
    std::map<ValueId, std::uint32_t> taken;
    for (auto s = block.statements.rbegin(); s != block.statements.rend(); ++s) {
      if (const auto* store = std::get_if<steps::StoreCell>(&*s)) ++taken[store->value];
      const auto* c = std::get_if<steps::Compute>(&*s);
      if (c == nullptr || !taken.contains(c->value) || taken[c->value] != mentions_[c->value.index]) continue;
      const bool inside = inlined(program_, c->value);  // a loop of one of them, which took its operands
      if (!inside && !in_place(c->value) && (!loop_shape(core_, c->value, target_) || !is_pointwise(core_, c->value)))
        continue;
      found.insert(c->value);
      if (!inside) take_operands(c->value, taken);
    }
    return found;
  }
  void take_operands(ValueId v, std::map<ValueId, std::uint32_t>& taken) const {
    for (const ValueId o : apply_of(core_, v)->operands) {
      ++taken[o];
      if (inlined(program_, o) && apply_of(core_, o) != nullptr && taken[o] == 1) take_operands(o, taken);
    }
  }

  bool in_place(ValueId v) const {
    const core::Apply* a = apply_of(core_, v);
    return a != nullptr && operators()[a->op].in_place;
  }

  // Whether the run stops where it did if the update, which can fail, is computed after the statements: what can fail
  // among them looks for the same indices.
  bool may_wait(ValueId update, std::span<const steps::Statement> statements) const {
    if (!can_fail(core_, update)) return true;
    const core::Apply& at = *apply_of(core_, update);
    ValueId indices;
    std::size_t operand = 0;
    for (const OperatorParameter& p : operators()[at.op].parameters) {
      if (p.kind != ParameterKind::operand) continue;
      if (p.name == "i") indices = at.operands[operand];
      ++operand;
    }
    return std::ranges::all_of(statements, [&](const steps::Statement& s) {
      const auto* c = std::get_if<steps::Compute>(&s);
      if (c == nullptr) return movable(s);
      if (!can_fail(core_, c->value)) return true;
      const core::Apply* a = apply_of(core_, c->value);
      return a != nullptr && std::ranges::find(a->operands, indices) != a->operands.end();
    });
  }

  // Updates go to where the first cell takes one.
  Updates delay(steps::Block& block) const {
    Updates found;
    std::set<ValueId> values = updates(block);
    if (values.empty()) return found;
    for (const steps::Statement& s : block.statements) {
      if (const auto* l = std::get_if<steps::LoadCell>(&s)) found.lies_in[l->value] = {l->cell};
      if (const auto* c = std::get_if<steps::Compute>(&s); c != nullptr && values.contains(c->value))
        found.cells[c->value];
      if (const auto* t = std::get_if<steps::StoreCell>(&s); t != nullptr && values.contains(t->value))
        found.cells[t->value].insert(t->cell);
    }
    const auto first = std::ranges::find_if(block.statements, [&](const steps::Statement& s) {
      const auto* store = std::get_if<steps::StoreCell>(&s);
      return store != nullptr && values.contains(store->value);
    });
    auto from = first;
    while (from != block.statements.begin() && !writes_cells(*std::prev(from))) --from;
    for (auto s = from; s != first; ++s)
      if (const auto* c = std::get_if<steps::Compute>(&*s); c != nullptr && !may_wait(c->value, {s, first}))
        values.erase(c->value);
    std::stable_partition(from, first, [&](const steps::Statement& s) {
      const auto* c = std::get_if<steps::Compute>(&s);
      return c == nullptr || !values.contains(c->value);
    });
    return found;
  }
  static bool writes_cells(const steps::Statement& s) {
    if (const auto* b = std::get_if<steps::Branch>(&s))
      return std::ranges::any_of(b->then_block->statements, writes_cells) ||
             std::ranges::any_of(b->else_block->statements, writes_cells);
    return std::holds_alternative<steps::StoreCell>(s) || std::holds_alternative<steps::MoveCell>(s) ||
           std::holds_alternative<steps::SegmentProduct>(s);
  }

  // Calls wait(reader, update) for the statements of the run that look at what a cell has, and the one that computes
  // what it has next.
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

  // Of a run, which statements wait for which.
  struct Waiting {
    std::vector<std::vector<std::size_t>> users;
    std::vector<std::size_t> waits;  // for so many that are not done
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

  // A group of loops that is being made, and what of the run may come next.
  struct Group {
    std::set<std::size_t> loops, others;  // ready
    Shape shape;
    std::set<ValueId> members;
  };
  // What costs nothing here, for it makes others ready: inlined values and loads; then a loop that joins. Nothing: the
  // group is complete.
  std::optional<std::size_t> next_in_group(const std::vector<steps::Statement>& run,
                                           const std::vector<std::optional<Shape>>& shapes, const Group& group) const {
    for (const std::size_t k : group.others)
      if (free(run[k])) return k;
    if (group.members.empty()) return std::nullopt;
    for (const std::size_t k : group.loops)
      if (*shapes[k] == group.shape && joins(program_, group.members, defined(run[k]), target_)) return k;
    return std::nullopt;
  }

  void flush(std::vector<steps::Statement>& run, std::vector<steps::Statement>& result, Updates& updates) {
    Waiting waiting = find_waiting(run, updates);
    std::vector<std::optional<Shape>> shapes;
    for (const steps::Statement& s : run) shapes.push_back(shape_of(s));
    Group group;
    const auto release = [&](std::size_t k) { (shapes[k] ? group.loops : group.others).insert(k); };
    for (std::size_t k = 0; k < run.size(); ++k)
      if (waiting.waits[k] == 0) release(k);
    while (!group.loops.empty() || !group.others.empty()) {
      std::optional<std::size_t> next = next_in_group(run, shapes, group);
      if (!next) {
        close(group.members);
        next = group.others.empty() ? *group.loops.begin() : *group.others.begin();
      }
      if (shapes[*next]) {
        group.shape = *shapes[*next];
        group.members.insert(defined(run[*next]));
      }
      group.loops.erase(*next), group.others.erase(*next);
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

  // Members that only members look at, each through the loop, need no memory.
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
