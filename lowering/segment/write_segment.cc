// Writes each sweep in the order of its items. A value that the sweep reads without computing it is loaded from its
// home before its first use.
//
// A fby is a cell. If its next value is known only after the leading sweep, a sweep that replays it carries it in a
// register, which begins with the cell's value at the start of the segment; the cell is updated at the segment's end. A
// sweep that replays it in place carries it in the cell. A post is a register that is carried backwards. A store is
// left out if the value does not change.
//
//   backfill: leading:   x := when bp i;  arrays[x] := x;  mark last bp
//             backward:  p := r;  o := if bp then x else p;  r := o;  arrays[o] := o
//             closing:   push o
#include "lowering/segment/write_segment.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "lowering/segment/segment_facts.h"
#include "semantics/time/memories.h"

namespace rml {

namespace {

std::string named(const Core& core, const Literal& l) {
  return (l.positive ? "`" : "`not ") + describe(core, l.condition) + "`";
}

// The message for a broken assumption of the schedule. Then a value needs itself (find_inexact), and no later row is
// known.
std::string knot(const Core& core, const Literal& what, const Literal& where) {
  return named(core, what) + " holds where " + named(core, where) +
         " does not: a value needs itself there, and no later row is ever known";
}

class SegmentWriter {
 public:
  SegmentWriter(ProgramBuilder& program, const Segment& segment)
      : program_(program),
        core_(program.core()),
        segment_(segment),
        from_(program.schedule().units[segment.unit]),
        facts_(program.schedule(), program.streams(), segment),
        closing_(segment.sweeps.size()) {}

  void write() {
    make_storage();
    steps::Unit& to = program_.unit(segment_.unit);
    to.cut_index = program_.cut(facts_.cut());
    if (looks_back()) write_before(to.before);
    for (std::size_t s = 0; s < segment_.sweeps.size(); ++s) {
      steps::Sweep sweep;
      sweep.backward = segment_.sweeps[s].backward;
      write_sweep(s, s == 0 ? to.instant : sweep.body, sweep.prologue);
      if (s > 0) to.sweeps.push_back(std::move(sweep));
    }
    steps::Sweep closing;
    write_closing(closing.body);
    if (!closing.body.statements.empty()) to.sweeps.push_back(std::move(closing));
    write_commit(to.commit);
  }

 private:
  struct Carried {  // a register that the current sweep carries from instant to instant
    CellId cell;
    ValueId of, next;
  };

  // ---- storage

  void make_storage() {
    for (const auto& [v, memory] : segment_.memories) {
      const ValueId init = std::get<core::Fby>(core_[v].rhs).init;
      const bool constant = core_.is_const(init);
      cells_[v] = program_.cell(v, constant ? std::get<core::Const>(core_[init].rhs).value : Tensor());
    }
    for (const auto& [v, memory] : segment_.memories)
      if (memory.begins) begins_[v] = program_.copy_of(v, false);
    for (const auto& [v, home] : segment_.homes) {
      if (home.kind == Home::array)
        arrays_[v] = program_.array(v, segment_.unit);
      else
        homes_[v] = cell_of(v, home);
    }
  }

  CellId cell_of(ValueId v, const Home& home) {
    switch (home.kind) {
      case Home::settled:
        return program_.settled_cell(v);
      case Home::cell:
        return program_.kept(v);
      default:
        return cell(home.owner);
    }
  }
  // The cell of a memory.
  CellId cell(ValueId fby) const {
    const ValueId other = memory(fby).shares;
    return cells_.at(other.valid() ? other : fby);
  }
  const Memory& memory(ValueId fby) const { return segment_.memories.at(fby); }
  bool is_memory(ValueId v) const { return segment_.memories.contains(v); }
  bool in_place(ValueId fby, std::size_t sweep) const { return sweep > 0 && memory(fby).in_place == sweep; }
  // The cell in which a value is stored as it is computed: its own, or that of the memory whose next value it is.
  std::optional<CellId> stored_in(ValueId v) const {
    const auto at = segment_.homes.find(v);
    const bool stored = at != segment_.homes.end() && (at->second.kind == Home::cell || at->second.kind == Home::next);
    return stored ? std::optional(homes_.at(v)) : std::nullopt;
  }

  void keep(StepWriter& out, const TestPath& where, ValueId v) {
    if (const auto at = arrays_.find(v); at != arrays_.end()) out.write(where, steps::StoreArray{at->second, v});
    if (const auto at = stored_in(v)) out.write(where, steps::StoreCell{*at, v});
  }

  void look_up(StepWriter& out, const TestPath& where, ValueId v) {
    if (const auto at = arrays_.find(v); at != arrays_.end()) out.write(where, steps::LoadArray{v, at->second});
    if (const auto at = homes_.find(v); at != homes_.end()) out.write(where, steps::LoadCell{v, at->second});
  }

  // ---- values that a sweep reads

  TestPath path(ValueId v) const { return tests(facts_.clock(v)); }

  // Makes v available in the sweep that is being written.
  void ensure(StepWriter& out, ValueId v) {
    if (!facts_.is_here(v) || available_.contains(v)) return;
    for (const Literal& l : facts_.clock(v)) ensure(out, l.condition);
    available_.insert(v);
    look_up(out, path(v), v);
  }

  void ensure_operands(StepWriter& out, ValueId v, std::size_t sweep) {
    for (const Literal& l : facts_.clock(v)) ensure(out, l.condition);
    const core::Rhs& rhs = core_[v].rhs;
    if (const auto* f = std::get_if<core::Fby>(&rhs)) {
      if (!core_.is_const(f->init) && !in_place(v, sweep)) ensure(out, f->init);
    } else if (!std::holds_alternative<core::Post>(rhs)) {
      for_each_operand(rhs, [&](ValueId o) { ensure(out, o); });
    }
  }

  // ---- sweeps

  void write_sweep(std::size_t s, steps::Block& body, steps::Block& prologue) {
    // `first` can be tested instead of the condition that marks the beginning of a segment.
    StepWriter out(body, [&](const steps::Test& t) {
      const bool first = t.kind == steps::Test::value && facts_.marks_first(t.condition);
      return first ? steps::Test{steps::Test::first, {}, t.positive} : t;
    });
    StepWriter before(prologue);
    available_.clear();
    carried_.clear();
    if (s == 0) begin_segment(out);
    for (const SweepItem& i : segment_.sweeps[s].items) {
      if (segment_.products.contains(i.value))
        write_product(before, i.value);
      else
        write_item(out, before, i, s);
    }
    for (const Carried& c : carried_) {
      ensure_moved(out, c.of, c.next);
      for (const TestPath& where : class_paths(facts_.known_until(c.next, s)))
        store(out, where, c.cell, c.of, c.next, s);
    }
    for (const Awaiting& a : from_.plan.awaiting)
      if (facts_.computed_in(a.post, s)) check_met(out, a, s);
    if (s == 0) end_leading(out);
  }

  bool looks_back() const { return !from_.belated.empty(); }

  // Stores the belated operands of the previous instant with its other values. A cut that is not belated is in a cell.
  void write_before(steps::Block& block) {
    StepWriter out(block);
    available_.clear();
    for (const ValueId v : from_.belated) {
      available_.insert(v);
      keep(out, path(v), v);
    }
    const Literal cut = facts_.cut();
    if (!from_.is_belated(cut.condition)) {
      cut_before_ = program_.truth_before(cut.condition, !cut.positive);
      out.write({}, steps::LoadCell{cut.condition, *cut_before_});
    }
    out.write({}, steps::MarkLast{cut.condition, cut.positive});
  }

  // The operands have arrived. Stores those that later sweeps read, and the value before this segment of every replayed
  // memory.
  void begin_segment(StepWriter& out) {
    for (const Literal& o : from_.plan.only_at_cut) {
      only_at_cut_.emplace_back(o, program_.truth_before(o.condition, !o.positive));
      const std::uint32_t site = program_.site(core_[o.condition].span, knot(core_, o, facts_.cut()));
      out.write({}, steps::SideCell{only_at_cut_.back().second, !o.positive, site});
    }
    for (const auto& [v, begin] : begins_) out.write({{steps::Test::first, {}, true}}, steps::MoveCell{begin, cell(v)});
    for (ValueId v : from_.operands) {
      if (facts_.settled(v) || from_.is_belated(v)) continue;
      available_.insert(v);
      keep(out, path(v), v);
    }
    for (ValueId v : from_.operands) mark_cut(out, v);
  }

  // Stores conditions that may hold only where the cut does, so that the next instant can stop at them, and memories
  // whose next value is known.
  void end_leading(StepWriter& out) {
    if (cut_before_) {
      ensure(out, facts_.cut().condition);
      out.write({}, steps::StoreCell{*cut_before_, facts_.cut().condition});
    }
    for (const auto& [o, kept] : only_at_cut_)
      out.write(path(o.condition) + TestPath{{steps::Test::last, {}, false}}, steps::StoreCell{kept, o.condition});
    for (const auto& [v, memory] : segment_.memories) {
      if (memory.shares.valid()) continue;
      const ValueId next = std::get<core::Fby>(core_[v].rhs).next;
      if (core_.is_const(next) && !moves_at_end(v)) out.write(path(v), steps::StoreCell{cell(v), next});
      if (!facts_.is_here(next)) continue;
      for (const auto& place : facts_.places(next))
        if (place.sweep == 0)
          for (const TestPath& where : class_paths(place.classes)) store(out, where, cell(v), v, next, 0);
    }
  }

  void mark_cut(StepWriter& out, ValueId v) {
    if (!looks_back() && v == facts_.cut().condition) out.write(path(v), steps::MarkLast{v, facts_.cut().positive});
  }

  void write_item(StepWriter& out, StepWriter& before, const SweepItem& item, std::size_t s) {
    const ValueId v = item.value;
    ensure_operands(out, v, s);
    const TestPath clock = path(v);
    for (const TestPath& where : class_paths(item.classes)) {
      if (is_memory(v))
        write_fby(out, v, clock + where, s);
      else if (std::holds_alternative<core::Post>(core_[v].rhs))
        out.write(clock + where, steps::LoadCell{v, carry(v, s)});
      else
        program_.compute(out, clock, where, v);
      keep(out, clock + where, v);
    }
    if (is_memory(v) && s > 0 && !memory(v).in_place) before.write({}, steps::MoveCell{carry(v, s), begins_.at(v)});
    const bool known_before = std::ranges::any_of(facts_.places(v), [&](const auto& at) { return at.sweep < s; });
    if (known_before)
      for (const TestPath& where : class_paths(static_cast<std::uint8_t>(any_instant & ~item.classes)))
        is_memory(v) ? write_fby(out, v, clock + where, s) : look_up(out, clock + where, v);
    available_.insert(v);
    if (s > 0) return;
    mark_cut(out, v);
    if (facts_.only_in(v, 0)) program_.hand_out(out, clock, v);
  }

  void write_fby(StepWriter& out, ValueId v, const TestPath& where, std::size_t s) {
    const auto& f = std::get<core::Fby>(core_[v].rhs);
    const CellId from = s == 0 ? cell(v) : carry(v, s);
    if (core_.is_const(f.init) || in_place(v, s)) {
      out.write(where, steps::LoadCell{v, from});
      return;
    }
    steps::Test start = path(f.init).back();
    out.write(where + TestPath{start}, steps::Copy{v, f.init});
    if (s == 0 && facts_.is_parameter(v)) out.write(where + TestPath{start}, steps::StoreCell{from, v});
    start.positive = !start.positive;
    out.write(where + TestPath{start}, steps::LoadCell{v, from});
  }

  // The register that carries v's operand from one instant of this sweep to the next.
  CellId carry(ValueId v, std::size_t s) {
    const auto key = std::pair{v, s};
    if (const auto at = registers_.find(key); at != registers_.end()) return at->second;
    const CellId register_ = is_memory(v) && in_place(v, s) ? cell(v) : program_.copy_of(v, true);
    const ValueId next =
        is_memory(v) ? std::get<core::Fby>(core_[v].rhs).next : std::get<core::Post>(core_[v].rhs).operand;
    const bool needed = facts_.is_here(next) || core_.is_const(next);
    if (needed) carried_.push_back({register_, v, next});
    return registers_[key] = register_;
  }

  // The conditions under which a memory or a post takes `next`: the clock of both. A constant is always present, so its
  // clock says nothing.
  TestPath moved(ValueId of, ValueId next) const { return path(core_.is_const(next) ? of : next); }
  void ensure_moved(StepWriter& out, ValueId of, ValueId next) {
    if (!core_.is_const(next)) return ensure(out, next);
    for (const Literal& l : facts_.clock(of)) ensure(out, l.condition);
  }

  // Stores the next value, unless it is the one that the cell already holds.
  void store(StepWriter& out, const TestPath& where, CellId cell, ValueId of, ValueId next, std::size_t s) {
    const bool is_there =
        !is_memory(of) || core_.is_const(std::get<core::Fby>(core_[of].rhs).init) || (facts_.is_parameter(of) && s > 0);
    if (!is_there || !facts_.is_here(next) || !facts_.only_in(next, s))
      return out.write(moved(of, next) + where, steps::StoreCell{cell, next});
    const Change change = what_changes(core_, of, next);
    for (const Literal& l : change.where) ensure(out, l.condition);
    if (!change.next.valid() || stored_in(change.next) == cell) return;
    out.write(path(next) + where + tests(change.where), steps::StoreCell{cell, change.next});
  }

  void write_product(StepWriter& out, ValueId v) {
    const Batch& b = segment_.products.at(v);
    const auto matrix = [&](const BatchOperand& o) {
      if (o.held) ensure(out, o.value);
      return steps::SegmentMatrix{o.held ? ArrayId() : arrays_.at(o.value), o.held ? o.value : ValueId(), o.row,
                                  o.column};
    };
    if (!segment_.homes.contains(v)) return;  // no sweep reads the value, so it is not stored
    steps::SegmentProduct s{v, matrix(b.a), matrix(b.b), b.m, b.inner, b.n, {}, {}, {}};
    if (b.sum)
      s.sum = homes_.at(v);
    else
      s.rows = arrays_.at(v);
    out.write({}, s);
  }

  // In a backward sweep: checks that the clock of a post has ticked before a use of the post.
  void check_met(StepWriter& out, const Awaiting& a, std::size_t s) {
    const TestPath clock = path(a.post);
    const steps::Test& last = clock.back();
    const CellId met = program_.flag(!last.positive);
    const std::string message = named(core_, {last.condition, last.positive}) + " does not hold again up to where " +
                                named(core_, facts_.cut()) +
                                " does, though something waits for it: a value needs itself there, and no later row "
                                "is ever known";
    const std::uint32_t site = program_.site(core_[a.post].span, message);
    for (const std::vector<Literal>& where : facts_.demands(a, s)) {
      for (const Literal& l : where) ensure(out, l.condition);
      out.write(tests(where), steps::SideCell{met, last.positive, site});
    }
    out.write(clock, steps::StoreCell{met, last.condition});
  }

  // ---- the segment's end

  // True if the memory's next value is known only at the end of the segment.
  bool moves_at_end(ValueId fby) const { return !facts_.moves_in_leading(fby) && !memory(fby).in_place; }

  // The forward loop after all sweeps: rows for other units, and memories on sub-clocks.
  void write_closing(steps::Block& body) {
    StepWriter out(body);
    available_.clear();
    for (const auto& [v, zero] : from_.idle)
      if (facts_.handed_out(v)) hand_out_zero(out, v);
    for (const auto& [v, places] : facts_.places()) {
      if (!facts_.is_member(v) || !facts_.handed_out(v) || facts_.only_in(v, 0)) continue;
      ensure(out, v);
      program_.hand_out(out, path(v), v);
    }
    for (const auto& [v, memory] : segment_.memories) {
      const ValueId next = std::get<core::Fby>(core_[v].rhs).next;
      if (!moves_at_end(v) || (core_[next].clock == from_.clock && !core_.is_const(next))) continue;
      ensure_moved(out, v, next);
      for (const TestPath& where : class_paths(facts_.known_until(next, closing_)))
        out.write(moved(v, next) + where, steps::StoreCell{cell(v), next});
    }
  }

  // Hands out zeros for a value that no instant needs, to readers that do not know this.
  void hand_out_zero(StepWriter& out, ValueId v) {
    for (const Literal& l : facts_.clock(v)) set_zero(out, l.condition);
    set_zero(out, v);
    program_.hand_out(out, path(v), v);
  }
  void set_zero(StepWriter& out, ValueId v) {
    const auto at = std::ranges::find(from_.idle, v, &std::pair<ValueId, ValueId>::first);
    if (at == from_.idle.end()) return ensure(out, v);
    if (available_.insert(v).second) out.write(path(v), steps::Copy{v, at->second});
  }

  // Updates memories at the last instant of the segment.
  void write_commit(steps::Block& block) {
    StepWriter out(block);
    available_.clear();
    for (const auto& [v, memory] : segment_.memories) {
      const ValueId next = std::get<core::Fby>(core_[v].rhs).next;
      if (!moves_at_end(v) || core_[next].clock != from_.clock || core_.is_const(next)) continue;
      ensure(out, next);
      out.write({}, steps::StoreCell{cell(v), next});
    }
  }

  ProgramBuilder& program_;
  const Core& core_;
  const Segment& segment_;
  const ScheduledUnit& from_;
  const SegmentFacts facts_;
  const std::size_t closing_;          // number of the closing loop, which follows all sweeps
  std::map<ValueId, CellId> cells_;    // cells of the memories, by their fby
  std::map<ValueId, CellId> begins_;   // cells of copies of memories, made at the start of the segment
  std::map<ValueId, ArrayId> arrays_;  // arrays of the values whose homes are arrays
  std::map<ValueId, CellId> homes_;    // cells of the values with other homes
  std::map<std::pair<ValueId, std::size_t>, CellId> registers_;
  // Cell of the cut at the previous instant; none if the cut is belated.
  std::optional<CellId> cut_before_;
  std::set<ValueId> available_;   // values that the current sweep has computed or loaded so far
  std::vector<Carried> carried_;  // registers of the current sweep
  // Literals that must hold only at the cut, with their cells for the previous instant.
  std::vector<std::pair<Literal, CellId>> only_at_cut_;
};

}  // namespace

void write_segment(ProgramBuilder& program, const Segment& segment) { SegmentWriter(program, segment).write(); }

}  // namespace rml
