// A segmented unit: the leading block, the passes over a segment, and what carries over.
//
// A value touched in one pass only lives in a register there. One touched in several passes
// has a segment array: the pass that computes it stores it, the others load it where it is
// first used. A fby is a cell; where its next value is known only after the leading pass,
// passes that replay it carry it in a register of their own, beginning with the cell's value
// at the start of the segment, and the cell moves on when the segment is done. A post is a
// register carried backwards.
//
//   backfill: leading:   x := when bp i;  arrays[x] := x;  mark last bp
//             backward:  p := r;  o := if bp then x else p;  r := o;  arrays[o] := o
//             closing:   push o
#include <algorithm>
#include <map>
#include <set>

#include "lowering/step_writer.h"

namespace rml {

namespace {

class SegmentBuilder {
 public:
  SegmentBuilder(ProgramBuilder& program, std::uint32_t unit)
      : program_(program),
        core_(program.core()),
        unit_(unit),
        from_(program.schedule().units[unit]),
        closing_(from_.plan.passes.size()) {}

  void build() {
    find_places();
    find_touches();
    for (auto& [v, passes] : touches_)
      if (passes.size() > 1) arrays_[v] = program_.array(v, unit_);
    steps::Unit& to = program_.program().units[unit_];
    to.cut_index = cut_info();
    for (std::size_t p = 0; p < closing_; ++p) {
      steps::Pass pass;
      pass.backward = from_.plan.passes[p].backward;
      steps::Block& body = p == 0 ? to.instant : pass.body;
      write_pass(p, body, pass.prologue);
      if (p > 0) to.passes.push_back(std::move(pass));
    }
    steps::Pass closing;
    write_closing(closing.body);
    if (!closing.body.statements.empty()) to.passes.push_back(std::move(closing));
    write_commit(to.commit);
  }

 private:
  struct Place {
    std::size_t pass;
    std::uint8_t classes;
  };
  struct Memory {             // of a fby
    CellId cell;              // its value for the next instant to come
    CellId begin;             // its value at the start of the segment, if a later pass replays it
    bool in_leading = false;  // the next value is computed entirely in the leading pass
  };
  struct Carried {  // a register of the pass being written
    CellId cell;
    ValueId next;
  };

  // The instants at which v is known once pass p has run.
  std::uint8_t classes_until(ValueId v, std::size_t p) const {
    if (!here(v)) return any_instant;
    std::uint8_t classes = 0;
    for (const Place& place : places_.at(v))
      if (place.pass <= p) classes |= place.classes;
    return classes;
  }

  TestPath path(ValueId v) const { return clock_path(core_, from_.clock, core_[v].clock); }
  bool here(ValueId v) const { return places_.contains(v); }
  bool only_in(ValueId v, std::size_t pass) const {
    return std::ranges::all_of(places_.at(v), [&](const Place& p) { return p.pass == pass; });
  }

  void find_places() {
    for (ValueId v : from_.operands) places_[v].push_back({0, any_instant});
    for (std::size_t p = 0; p < closing_; ++p)
      for (const PassItem& i : from_.plan.passes[p].items) places_[i.value].push_back({p, i.classes});
  }

  void touch(ValueId v, std::size_t pass) {
    if (!here(v)) return;
    touches_[v].insert(pass);
    for (const steps::Test& t : path(v))
      if (here(t.condition)) touches_[t.condition].insert(pass);
  }

  void find_touches() {
    for (const auto& [v, places] : places_)
      for (const Place& p : places) touch(v, p.pass);
    for (std::size_t p = 0; p < closing_; ++p)
      for (const PassItem& i : from_.plan.passes[p].items) {
        const auto& rhs = core_[i.value].rhs;
        if (const auto* f = std::get_if<core::Fby>(&rhs)) {
          touch(f->init, p);
          if (p > 0) touch(f->next, p);
        } else {
          std::visit([&](const auto& r) { touch_operands(r, p); }, rhs);
        }
      }
    for (const auto& [v, places] : places_) {
      if (const auto* f = std::get_if<core::Fby>(&core_[v].rhs); f != nullptr && member(v)) remember(v, *f);
      if (member(v) && program_.handed_out(v) && !only_in(v, 0)) touch(v, closing_);
    }
    for (const Literal& s : from_.plan.sides) touch(s.condition, closing_ + 1);
  }

  template <class Rhs>
  void touch_operands(const Rhs& r, std::size_t pass) {
    core::Rhs copy = r;
    for_each_operand(copy, [&](ValueId o) { touch(o, pass); });
  }

  bool member(ValueId v) const { return program_.schedule().unit_of[v.index] == unit_; }

  void remember(ValueId v, const core::Fby& f) {
    Memory m;
    m.in_leading = core_.is_const(f.next) || only_in(f.next, 0);
    const bool constant = core_.is_const(f.init);
    m.cell = program_.cell(v, constant ? std::get<core::Const>(core_[f.init].rhs).value : Tensor());
    if (!only_in(v, 0)) {
      m.begin = program_.copy_of(v, false);
    }
    if (!m.in_leading) touch(f.next, core_[f.next].clock == from_.clock ? closing_ + 1 : closing_);
    memory_[v] = m;
  }

  // Makes v available in the pass being written.
  void ensure(StepWriter& out, ValueId v, std::size_t pass) {
    if (!here(v) || available_.contains(v)) return;
    for (const steps::Test& t : path(v)) ensure(out, t.condition, pass);
    available_.insert(v);
    if (arrays_.contains(v)) out.write(path(v), steps::LoadArray{v, arrays_.at(v)});
  }

  void ensure_operands(StepWriter& out, ValueId v, std::size_t pass) {
    for (const steps::Test& t : path(v)) ensure(out, t.condition, pass);
    core::Rhs rhs = core_[v].rhs;
    if (const auto* f = std::get_if<core::Fby>(&rhs)) {
      if (!core_.is_const(f->init)) ensure(out, f->init, pass);
    } else if (!std::holds_alternative<core::Post>(rhs)) {
      for_each_operand(rhs, [&](ValueId o) { ensure(out, o, pass); });
    }
  }

  void write_pass(std::size_t p, steps::Block& body, steps::Block& prologue) {
    StepWriter out(body);
    StepWriter before(prologue);
    available_.clear();
    carried_.clear();
    if (p == 0) begin_segment(out);
    for (const PassItem& i : from_.plan.passes[p].items) write_item(out, before, i, p);
    for (const Carried& c : carried_) {
      ensure(out, c.next, p);
      for (const TestPath& where : class_paths(classes_until(c.next, p)))
        out.write(path(c.next) + where, steps::StoreCell{c.cell, c.next});
    }
    if (p > 0) return;
    check_only_at_cut(out);
    for (const auto& [v, m] : memory_) {
      const ValueId next = std::get<core::Fby>(core_[v].rhs).next;
      if (core_.is_const(next))
        out.write(path(v), steps::StoreCell{m.cell, next});
      else
        for (const Place& place : places_.at(next))
          if (place.pass == 0)
            for (const TestPath& c : class_paths(place.classes))
              out.write(path(next) + c, steps::StoreCell{m.cell, next});
    }
  }

  // Operands are there; what later passes need of them is kept, and so is every replayed
  // memory as it was before this segment.
  void begin_segment(StepWriter& out) {
    for (const auto& [v, m] : memory_)
      if (m.begin.valid()) out.write({{steps::Test::first, {}, true}}, steps::MoveCell{m.begin, m.cell});
    for (ValueId v : from_.operands) {
      available_.insert(v);
      if (arrays_.contains(v)) out.write(path(v), steps::StoreArray{arrays_.at(v), v});
    }
    for (ValueId v : from_.operands) mark_cut(out, v);
  }

  // What may hold only where the cut does, at the other instants.
  void check_only_at_cut(StepWriter& out) {
    for (const Literal& o : from_.plan.only_at_cut) {
      const std::uint32_t site = program_.site(core_[o.condition].span, assumption(o, from_.plan.cut));
      out.write(path(o.condition) + TestPath{{steps::Test::last, {}, false}},
                steps::Side{o.condition, !o.positive, site});
    }
  }

  void mark_cut(StepWriter& out, ValueId v) {
    if (v == from_.plan.cut.condition) out.write(path(v), steps::MarkLast{v, from_.plan.cut.positive});
  }

  void write_item(StepWriter& out, StepWriter& before, const PassItem& item, std::size_t p) {
    const ValueId v = item.value;
    ensure_operands(out, v, p);
    const TestPath clock = path(v);
    for (const TestPath& where : class_paths(item.classes)) {
      if (std::holds_alternative<core::Fby>(core_[v].rhs))
        write_fby(out, v, clock + where, p);
      else if (std::holds_alternative<core::Post>(core_[v].rhs))
        out.write(clock + where, steps::LoadCell{v, carry(v, p)});
      else
        program_.compute(out, clock, where, v);
      if (arrays_.contains(v)) out.write(clock + where, steps::StoreArray{arrays_.at(v), v});
    }
    if (const auto* f = std::get_if<core::Fby>(&core_[v].rhs); f != nullptr && p > 0)
      before.write({}, steps::MoveCell{carry(v, p), memory_.at(v).begin});
    const bool elsewhere = std::ranges::any_of(places_.at(v), [&](const Place& q) { return q.pass < p; });
    if (elsewhere)
      for (const TestPath& where : class_paths(static_cast<std::uint8_t>(any_instant & ~item.classes)))
        out.write(clock + where, steps::LoadArray{v, arrays_.at(v)});
    available_.insert(v);
    if (p > 0) return;
    mark_cut(out, v);
    if (only_in(v, 0)) program_.hand_out(out, clock, v);
  }

  void write_fby(StepWriter& out, ValueId v, const TestPath& where, std::size_t p) {
    const auto& f = std::get<core::Fby>(core_[v].rhs);
    const CellId cell = p == 0 ? memory_.at(v).cell : carry(v, p);
    if (core_.is_const(f.init)) {
      out.write(where, steps::LoadCell{v, cell});
      return;
    }
    steps::Test start = path(f.init).back();
    out.write(where + TestPath{start}, steps::Copy{v, f.init});
    // A parameter is kept from its first instant on, not from the end of its first segment.
    const bool parameter = std::ranges::any_of(core_.parameters, [&](const Parameter& x) { return x.value == v; });
    if (p == 0 && parameter) out.write(where + TestPath{start}, steps::StoreCell{cell, v});
    start.positive = !start.positive;
    out.write(where + TestPath{start}, steps::LoadCell{v, cell});
  }

  // The register that carries v's operand from one instant of this pass to the next.
  CellId carry(ValueId v, std::size_t p) {
    const auto key = std::pair{v, p};
    if (const auto at = registers_.find(key); at != registers_.end()) return at->second;
    const CellId cell = program_.copy_of(v, true);
    const auto* f = std::get_if<core::Fby>(&core_[v].rhs);
    carried_.push_back({cell, f != nullptr ? f->next : std::get<core::Post>(core_[v].rhs).operand});
    return registers_[key] = cell;
  }

  // Once all passes are done, forward: rows for other units, and memories on sub-clocks.
  void write_closing(steps::Block& body) {
    StepWriter out(body);
    available_.clear();
    for (const auto& [v, places] : places_) {
      if (!member(v) || !program_.handed_out(v) || only_in(v, 0)) continue;
      ensure(out, v, closing_);
      program_.hand_out(out, path(v), v);
    }
    for (const auto& [v, m] : memory_) {
      const ValueId next = std::get<core::Fby>(core_[v].rhs).next;
      if (m.in_leading || core_[next].clock == from_.clock) continue;
      ensure(out, next, closing_);
      for (const TestPath& where : class_paths(classes_until(next, closing_)))
        out.write(path(next) + where, steps::StoreCell{m.cell, next});
    }
  }

  // At the last instant of the segment.
  void write_commit(steps::Block& block) {
    StepWriter out(block);
    available_.clear();
    for (const Literal& s : from_.plan.sides) {
      ensure(out, s.condition, closing_ + 1);
      const std::uint32_t site = program_.site(core_[s.condition].span, assumption(from_.plan.cut, s));
      out.write(path(s.condition), steps::Side{s.condition, s.positive, site});
    }
    for (const auto& [v, m] : memory_) {
      const ValueId next = std::get<core::Fby>(core_[v].rhs).next;
      if (m.in_leading || core_[next].clock != from_.clock) continue;
      ensure(out, next, closing_ + 1);
      out.write({}, steps::StoreCell{m.cell, next});
    }
  }

  std::string named(const Literal& l) const {
    return (l.positive ? "`" : "`not ") + describe(core_, l.condition) + "`";
  }
  std::string assumption(const Literal& what, const Literal& where) const {
    return named(what) + " holds where " + named(where) +
           " does not, which the schedule of this program assumes never happens";
  }

  std::uint32_t cut_info() {
    auto& cuts = program_.program().cuts;
    const Literal& cut = from_.plan.cut;
    cuts.push_back({(cut.positive ? "" : "not ") + describe(core_, cut.condition), core_[cut.condition].span});
    return static_cast<std::uint32_t>(cuts.size() - 1);
  }

  ProgramBuilder& program_;
  const Core& core_;
  std::uint32_t unit_;
  const ScheduledUnit& from_;
  std::size_t closing_;                           // number of the pass after all others
  std::map<ValueId, std::vector<Place>> places_;  // where members and operands are computed
  std::map<ValueId, std::set<std::size_t>> touches_;
  std::map<ValueId, ArrayId> arrays_;
  std::map<ValueId, Memory> memory_;
  std::map<std::pair<ValueId, std::size_t>, CellId> registers_;
  std::set<ValueId> available_;   // in the pass being written
  std::vector<Carried> carried_;  // likewise
};

}  // namespace

void build_segmented_unit(ProgramBuilder& program, std::uint32_t unit) { SegmentBuilder(program, unit).build(); }

}  // namespace rml
