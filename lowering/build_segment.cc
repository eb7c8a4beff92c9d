// A segmented unit: the leading block, the passes over a segment, and what carries over.
//
// A value touched in one pass only lives in a register there. One touched in several passes
// has a segment array: the pass that computes it stores it, the others load it where it is
// first used. A fby is a cell; where its next value is known only after the leading pass,
// passes that replay it carry it in a register of their own, beginning with the cell's value
// at the start of the segment, and the cell moves on when the segment is done; if the leading pass
// leaves the cell alone and one pass replays it, that register is the cell. A post is a
// register carried backwards. What is stored is what changes: nothing, where the next value is
// the one that is there.
//
// Of two kinds of values a segment has one element, which is kept in a cell: of those that are
// present at its first or its last instant only, and of those that are held from its first on,
//
//   w = if true fby end then x else 0 fby w        (the cell of the fby)
//
//   backfill: leading:   x := when bp i;  arrays[x] := x;  mark last bp
//             backward:  p := r;  o := if bp then x else p;  r := o;  arrays[o] := o
//             closing:   push o
#include <algorithm>
#include <map>
#include <set>

#include "lowering/postpone.h"
#include "lowering/segment_facts.h"
#include "lowering/share_cells.h"
#include "lowering/step_writer.h"
#include "lowering/time_batch.h"
#include "lowering/wait_for_end.h"

namespace rml {

namespace {

class SegmentBuilder {
 public:
  SegmentBuilder(ProgramBuilder& program, std::uint32_t unit)
      : program_(program),
        core_(program.core()),
        unit_(unit),
        from_(program.schedule().units[unit]),
        facts_(core_, from_.clock, from_.plan.cut),
        passes_(from_.plan.passes) {}

  void build() {
    find_places();
    for (const auto& [v, places] : places_)
      if (const auto* f = std::get_if<core::Fby>(&core_[v].rhs); f != nullptr && member(v)) remember(v, *f);
    wait_for_end();
    wait();
    if (program_.options().batch) {
      batches_ = time_batch(core_, from_.clock, from_.plan.cut, passes_, batch_questions());
      find_places();
      wait();
    }
    closing_ = passes_.size();
    for (auto& [v, memory] : memory_) replay(v, memory);
    find_touches();
    share();
    find_storage();
    steps::Unit& to = program_.program().units[unit_];
    to.cut_index = cut_info();
    for (std::size_t p = 0; p < passes_.size(); ++p) {
      steps::Pass pass;
      pass.backward = passes_[p].backward;
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
  struct Memory {              // of a fby
    CellId cell;               // its value for the next instant to come
    CellId begin;              // its value at the start of the segment, if a later pass replays it
    bool in_leading = false;   // the next value is computed entirely in the leading pass
    std::size_t in_place = 0;  // the only other pass that replays it, in the cell itself
  };
  struct Carried {  // a register of the pass being written
    CellId cell;
    ValueId of, next;
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
  // Needed at no instant of any segment.
  bool dead(ValueId v) const { return !here(v) && !core_.is_const(v); }
  bool only_in(ValueId v, std::size_t pass) const {
    return std::ranges::all_of(places_.at(v), [&](const Place& p) { return p.pass == pass; });
  }

  void find_places() {
    places_.clear();
    for (ValueId v : from_.operands) places_[v].push_back({0, any_instant});
    for (std::size_t p = 0; p < passes_.size(); ++p)
      for (const PassItem& i : passes_[p].items) places_[i.value].push_back({p, i.classes});
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
    for (std::size_t p = 0; p < passes_.size(); ++p)
      for (const PassItem& i : passes_[p].items) {
        const auto& rhs = core_[i.value].rhs;
        if (const auto* f = std::get_if<core::Fby>(&rhs)) {
          if (p == 0 || memory_.at(i.value).in_place != p) touch(f->init, p);
          if (p > 0) touch(f->next, p);
        } else {
          operands(i.value, [&](ValueId o) { touch(o, p); });
        }
      }
    for (const auto& [v, places] : places_)
      if (member(v) && program_.handed_out(v) && !only_in(v, 0)) touch(v, closing_);
    for (const auto& [v, m] : memory_) {
      const ValueId next = std::get<core::Fby>(core_[v].rhs).next;
      if (!m.in_leading && m.in_place == 0) touch(next, core_[next].clock == from_.clock ? closing_ + 1 : closing_);
    }
    for (const auto& [v, zero] : from_.idle)
      if (program_.handed_out(v))
        for (const steps::Test& t : path(v)) touch(t.condition, closing_);
    for (const Literal& s : from_.plan.sides) touch(s.condition, closing_ + 1);
    for (const Awaiting& a : from_.plan.awaiting)
      for (const Place& p : places_.at(a.post))
        for (const TestPath& where : demands(a, p.pass))
          for (const steps::Test& t : where) touch(t.condition, p.pass);
  }

  template <class F>
  void operands(ValueId v, const F& f) const {
    if (const auto b = batches_.find(v); b != batches_.end())
      f(b->second.a.value), f(b->second.b.value);
    else
      for_each_operand(core_[v].rhs, f);
  }

  bool member(ValueId v) const { return program_.schedule().unit_of[v.index] == unit_; }

  void remember(ValueId v, const core::Fby& f) {
    Memory m;
    m.in_leading = !here(f.next) || only_in(f.next, 0);
    const bool constant = core_.is_const(f.init);
    m.cell = program_.cell(v, constant ? std::get<core::Const>(core_[f.init].rhs).value : Tensor());
    memory_[v] = m;
  }

  void replay(ValueId v, Memory& m) {
    m.in_place = only_replay(v, std::get<core::Fby>(core_[v].rhs));
    if (!only_in(v, 0) && m.in_place == 0) m.begin = program_.copy_of(v, false);
  }

  // From outside the unit.
  bool looked_at(ValueId v) const {
    return program_.handed_out(v) || program_.checked(v) ||
           std::ranges::any_of(from_.plan.awaiting, [&](const Awaiting& a) { return a.post == v; });
  }

  bool is_parameter(ValueId v) const {
    return std::ranges::any_of(core_.parameters, [&](const Parameter& x) { return x.value == v; });
  }

  // The pass that can replay v in its cell: nothing is stored there before, all is known by then,
  // and the cell holds v at the first instant. 0: none.
  std::size_t only_replay(ValueId v, const core::Fby& f) const {
    if (!here(f.next) || !(core_.is_const(f.init) || is_parameter(v))) return 0;
    if (std::ranges::any_of(places_.at(f.next), [](const Place& p) { return p.pass == 0; })) return 0;
    std::size_t found = 0;
    std::uint8_t leading = 0;
    for (const Place& p : places_.at(v)) {
      if (p.pass == 0) leading |= p.classes;
      if (p.pass > 0 && found != 0) return 0;
      if (p.pass > 0) found = p.pass;
    }
    const bool from_first = (leading & (first_instant | single_instant)) == (first_instant | single_instant);
    if (found == 0 || passes_[found].backward || !from_first) return 0;
    return classes_until(f.next, found) == any_instant ? found : 0;
  }

  // ---- what waits for a later pass

  void wait() {
    PostponeQuestions ask;
    ask.movable = [&](ValueId v, std::size_t pass) {
      return only_in(v, pass) && !program_.handed_out(v) && !program_.checked(v) && !batches_.contains(v);
    };
    ask.there = [&](ValueId v) { return !here(v) || program_.settled(v) || holder(v).valid() || facts_.once(v); };
    ask.once = [&](ValueId v) { return facts_.once(v); };
    ask.memory = [&](ValueId v) { return memory_.contains(v); };
    ask.batched = [&](ValueId v) { return batches_.contains(v); };
    ask.operands = [&](ValueId v, const std::function<void(ValueId)>& f) { operands(v, f); };
    postpone(core_, passes_, ask);
    find_places();
  }

  // What the cut is computed from, and what is held for the segment.
  std::vector<ValueId> needed_early() const {
    std::vector<ValueId> early = {from_.plan.cut.condition};
    for (const Literal& o : from_.plan.only_at_cut) early.push_back(o.condition);
    for (const PassItem& i : passes_[0].items)
      if (holder(i.value).valid()) early.push_back(i.value);
    return early;
  }

  // By default no row and no fault comes later for it.
  void wait_for_end() {
    if (program_.options().whole_segment) wait_for_segment(core_, needed_early(), passes_);
    if (!program_.options().whole_segment && program_.options().batch) {
      const auto lies = [&](ValueId v) { return program_.settled(v) || holder(v).valid() || facts_.once(v); };
      const auto checked = [&](ValueId v) { return program_.checked(v); };
      const WaitQuestions ask{batch_questions(), lies, checked};
      wait_for_products(program_.schedule(), unit_, needed_early(), passes_, ask);
    }
    find_places();
    for (auto& [v, m] : memory_) {
      const auto& f = std::get<core::Fby>(core_[v].rhs);
      m.in_leading = !here(f.next) || only_in(f.next, 0);
    }
  }

  // ---- products over the whole segment

  BatchQuestions batch_questions() const {
    BatchQuestions ask;
    ask.held = [&](ValueId v) { return core_.is_const(v) || (here(v) && (program_.settled(v) || holder(v).valid())); };
    ask.everywhere = [&](ValueId v) { return here(v) && classes_until(v, SIZE_MAX) == any_instant; };
    ask.only_first = [&](ValueId v) { return facts_.only_first(v); };
    ask.looked_at = [&](ValueId v) { return looked_at(v); };
    return ask;
  }

  void write_batch(StepWriter& out, ValueId v, std::size_t p) {
    const Batch& b = batches_.at(v);
    const auto matrix = [&](const BatchOperand& o) {
      if (o.held) ensure(out, o.value, p);
      return steps::SegmentMatrix{o.held ? ArrayId() : arrays_.at(o.value), o.held ? o.value : ValueId(), o.row,
                                  o.column};
    };
    if (!b.sum && !arrays_.contains(v)) return;  // nobody looks at it
    steps::SegmentProduct s{v, matrix(b.a), matrix(b.b), b.m, b.inner, b.n, {}, {}, {}};
    if (b.sum)
      s.sum = single_.at(v);
    else
      s.rows = arrays_.at(v);
    out.write({}, s);
  }

  // ---- storage of what several passes look at

  void share() {
    SharingQuestions ask;
    ask.in_place = [&](ValueId v) { return memory_.at(v).in_place; };
    ask.holder = [&](ValueId v) { return holder(v); };
    ask.used = [&](ValueId v) -> const std::set<std::size_t>& { return touches_[v]; };
    ask.looked_at = [&](ValueId v) { return looked_at(v); };
    shared_ = share_cells(core_, facts_, passes_, ask);
    for (const auto& [v, p] : shared_.lies_in)
      if (const auto m = memory_.find(v); m != memory_.end()) m->second.cell = memory_.at(p).cell;
  }

  void find_storage() {
    for (ValueId v : from_.operands)
      if (program_.settled(v)) held_[v] = program_.settled_cell(v);
    for (const auto& [v, passes] : touches_) {
      if (held_.contains(v) || !looked_up(v, passes)) continue;
      if (const auto at = shared_.lies_in.find(v); at != shared_.lies_in.end())
        held_[v] = memory_.at(at->second).cell;
      else if (const auto moved = shared_.moves_on.find(v); moved != shared_.moves_on.end())
        single_[v] = memory_.at(moved->second).cell;
      else if (const ValueId f = holder(v); f.valid())
        held_[v] = memory_.at(f).cell;
      else if (facts_.once(v) || (batches_.contains(v) && batches_.at(v).sum))
        single_[v] = program_.kept(v);
      else
        arrays_[v] = program_.array(v, unit_);
    }
  }

  // A memory that is replayed supplies itself.
  bool looked_up(ValueId v, const std::set<std::size_t>& passes) const {
    if (!memory_.contains(v)) return passes.size() > 1;
    return std::ranges::any_of(passes, [&](std::size_t p) {
      return p > 0 && std::ranges::none_of(places_.at(v), [&](const Place& at) { return at.pass == p; });
    });
  }

  // The fby whose cell holds v all the segment through.
  ValueId holder(ValueId v) const {
    const auto* m = std::get_if<core::Merge>(&core_[v].rhs);
    if (m == nullptr || core_[v].clock != from_.clock || !facts_.marks_first(m->condition) || !only_in(v, 0)) return {};
    for (const auto& [f, memory] : memory_)
      if (kept(core_, m->on_false, f) && std::get<core::Fby>(core_[f].rhs).next == v && only_in(f, 0)) return f;
    return {};
  }

  void keep(StepWriter& out, const TestPath& where, ValueId v) {
    if (const auto at = arrays_.find(v); at != arrays_.end()) out.write(where, steps::StoreArray{at->second, v});
    if (const auto at = single_.find(v); at != single_.end()) out.write(where, steps::StoreCell{at->second, v});
  }

  void look_up(StepWriter& out, const TestPath& where, ValueId v) {
    if (const auto at = arrays_.find(v); at != arrays_.end()) out.write(where, steps::LoadArray{v, at->second});
    if (const auto at = single_.find(v); at != single_.end()) out.write(where, steps::LoadCell{v, at->second});
    if (const auto at = held_.find(v); at != held_.end()) out.write(where, steps::LoadCell{v, at->second});
  }

  // Makes v available in the pass being written.
  void ensure(StepWriter& out, ValueId v, std::size_t pass) {
    if (!here(v) || available_.contains(v)) return;
    for (const steps::Test& t : path(v)) ensure(out, t.condition, pass);
    available_.insert(v);
    look_up(out, path(v), v);
  }

  void ensure_operands(StepWriter& out, ValueId v, std::size_t pass) {
    for (const steps::Test& t : path(v)) ensure(out, t.condition, pass);
    core::Rhs rhs = core_[v].rhs;
    if (const auto* f = std::get_if<core::Fby>(&rhs)) {
      if (!core_.is_const(f->init) && (pass == 0 || memory_.at(v).in_place != pass)) ensure(out, f->init, pass);
    } else if (!std::holds_alternative<core::Post>(rhs)) {
      for_each_operand(rhs, [&](ValueId o) { ensure(out, o, pass); });
    }
  }

  void write_pass(std::size_t p, steps::Block& body, steps::Block& prologue) {
    StepWriter out(body, [&](const steps::Test& t) { return facts_.simplest(t); });
    StepWriter before(prologue);
    available_.clear();
    carried_.clear();
    if (p == 0) begin_segment(out);
    for (const PassItem& i : passes_[p].items) {
      if (batches_.contains(i.value))
        write_batch(before, i.value, p);
      else
        write_item(out, before, i, p);
    }
    for (const Carried& c : carried_) {
      ensure(out, c.next, p);
      for (const TestPath& where : class_paths(classes_until(c.next, p))) store(out, where, c.cell, c.of, c.next, p);
    }
    for (const Awaiting& a : from_.plan.awaiting)
      if (std::ranges::any_of(places_.at(a.post), [&](const Place& at) { return at.pass == p; })) check_met(out, a, p);
    if (p > 0) return;
    check_only_at_cut(out);
    for (const auto& [v, m] : memory_) {
      if (shared_.lies_in.contains(v)) continue;
      const ValueId next = std::get<core::Fby>(core_[v].rhs).next;
      if (core_.is_const(next)) out.write(path(v), steps::StoreCell{m.cell, next});
      if (here(next))
        for (const Place& place : places_.at(next))
          if (place.pass == 0)
            for (const TestPath& c : class_paths(place.classes)) store(out, c, m.cell, v, next, 0);
    }
  }

  // Nothing is stored where the next value is the one that is there.
  void store(StepWriter& out, const TestPath& where, CellId cell, ValueId of, ValueId next, std::size_t p) {
    const bool there = core_.is_const(init_of(of)) || of_post(of) || (is_parameter(of) && p > 0);
    if (!there || !here(next) || !only_in(next, p)) return out.write(path(next) + where, steps::StoreCell{cell, next});
    const Change change = what_changes(core_, of, next);
    for (const steps::Test& t : change.where) ensure(out, t.condition, p);
    if (!change.next.valid() || stored_in(change.next, cell)) return;
    out.write(path(next) + where + change.where, steps::StoreCell{cell, change.next});
  }
  bool stored_in(ValueId v, CellId cell) const {
    const auto at = single_.find(v);
    return at != single_.end() && at->second == cell;
  }
  bool of_post(ValueId v) const { return std::holds_alternative<core::Post>(core_[v].rhs); }
  ValueId init_of(ValueId v) const {
    const auto* f = std::get_if<core::Fby>(&core_[v].rhs);
    return f != nullptr ? f->init : v;
  }

  // Operands are there; what later passes need of them is kept, and so is every replayed
  // memory as it was before this segment.
  void begin_segment(StepWriter& out) {
    for (const auto& [v, m] : memory_)
      if (m.begin.valid()) out.write({{steps::Test::first, {}, true}}, steps::MoveCell{m.begin, m.cell});
    for (ValueId v : from_.operands) {
      if (program_.settled(v)) continue;
      available_.insert(v);
      keep(out, path(v), v);
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

  // Where a post is looked at, by what is known in pass p.
  std::vector<TestPath> demands(const Awaiting& a, std::size_t p) const {
    std::vector<TestPath> all;
    for (const Guard& guard : a.demands) {
      TestPath where = path(a.post);
      for (const Literal& l : guard.literals) {
        const bool known = here(l.condition) &&
                           std::ranges::all_of(places_.at(l.condition), [&](const Place& at) { return at.pass <= p; });
        if (!known) continue;
        TestPath more = path(l.condition);
        more.push_back({steps::Test::value, l.condition, l.positive});
        for (const steps::Test& t : more)
          if (std::ranges::find(where, t) == where.end()) where.push_back(t);
      }
      all.push_back(std::move(where));
    }
    return all;
  }

  // In a backward pass: where the post is looked at, its clock has been met.
  void check_met(StepWriter& out, const Awaiting& a, std::size_t p) {
    const TestPath clock = path(a.post);
    const steps::Test& last = clock.back();
    const CellId met = program_.flag(!last.positive);
    const std::string message = named({last.condition, last.positive}) + " does not hold again up to where " +
                                named(from_.plan.cut) +
                                " does, though something waits for it, which the schedule of this program assumes "
                                "never happens";
    const std::uint32_t site = program_.site(core_[a.post].span, message);
    for (const TestPath& where : demands(a, p)) {
      for (const steps::Test& t : where) ensure(out, t.condition, p);
      out.write(where, steps::SideCell{met, last.positive, site});
    }
    out.write(clock, steps::StoreCell{met, last.condition});
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
      keep(out, clock + where, v);
    }
    const bool memory = memory_.contains(v);
    if (memory && p > 0 && memory_.at(v).in_place == 0)
      before.write({}, steps::MoveCell{carry(v, p), memory_.at(v).begin});
    const bool elsewhere = std::ranges::any_of(places_.at(v), [&](const Place& q) { return q.pass < p; });
    if (elsewhere)
      for (const TestPath& where : class_paths(static_cast<std::uint8_t>(any_instant & ~item.classes)))
        memory ? write_fby(out, v, clock + where, p) : look_up(out, clock + where, v);
    available_.insert(v);
    if (p > 0) return;
    mark_cut(out, v);
    if (only_in(v, 0)) program_.hand_out(out, clock, v);
  }

  void write_fby(StepWriter& out, ValueId v, const TestPath& where, std::size_t p) {
    const auto& f = std::get<core::Fby>(core_[v].rhs);
    const CellId cell = p == 0 ? memory_.at(v).cell : carry(v, p);
    if (core_.is_const(f.init) || (p > 0 && memory_.at(v).in_place == p)) {
      out.write(where, steps::LoadCell{v, cell});
      return;
    }
    steps::Test start = path(f.init).back();
    out.write(where + TestPath{start}, steps::Copy{v, f.init});
    // A parameter is kept from its first instant on, not from the end of its first segment.
    if (p == 0 && is_parameter(v)) out.write(where + TestPath{start}, steps::StoreCell{cell, v});
    start.positive = !start.positive;
    out.write(where + TestPath{start}, steps::LoadCell{v, cell});
  }

  // The register that carries v's operand from one instant of this pass to the next.
  CellId carry(ValueId v, std::size_t p) {
    const auto key = std::pair{v, p};
    if (const auto at = registers_.find(key); at != registers_.end()) return at->second;
    const auto* f = std::get_if<core::Fby>(&core_[v].rhs);
    const bool in_place = f != nullptr && memory_.at(v).in_place == p;
    const CellId cell = in_place ? memory_.at(v).cell : program_.copy_of(v, true);
    const ValueId next = f != nullptr ? f->next : std::get<core::Post>(core_[v].rhs).operand;
    if (!dead(next)) carried_.push_back({cell, v, next});
    return registers_[key] = cell;
  }

  // Once all passes are done, forward: rows for other units, and memories on sub-clocks.
  void write_closing(steps::Block& body) {
    StepWriter out(body);
    available_.clear();
    for (const auto& [v, zero] : from_.idle)
      if (program_.handed_out(v)) hand_out_zero(out, v);
    for (const auto& [v, places] : places_) {
      if (!member(v) || !program_.handed_out(v) || only_in(v, 0)) continue;
      ensure(out, v, closing_);
      program_.hand_out(out, path(v), v);
    }
    for (const auto& [v, m] : memory_) {
      const ValueId next = std::get<core::Fby>(core_[v].rhs).next;
      if (m.in_leading || m.in_place > 0 || core_[next].clock == from_.clock) continue;
      ensure(out, next, closing_);
      for (const TestPath& where : class_paths(classes_until(next, closing_)))
        out.write(path(next) + where, steps::StoreCell{m.cell, next});
    }
  }

  // What no instant needs, for readers that cannot know.
  void hand_out_zero(StepWriter& out, ValueId v) {
    for (const steps::Test& t : path(v)) set_zero(out, t.condition);
    set_zero(out, v);
    program_.hand_out(out, path(v), v);
  }
  void set_zero(StepWriter& out, ValueId v) {
    const auto at = std::ranges::find(from_.idle, v, &std::pair<ValueId, ValueId>::first);
    if (at == from_.idle.end()) return ensure(out, v, closing_);
    if (available_.insert(v).second) out.write(path(v), steps::Copy{v, at->second});
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
      if (m.in_leading || m.in_place > 0 || core_[next].clock != from_.clock) continue;
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
  const SegmentFacts facts_;
  std::vector<PassPlan> passes_;                  // of the plan, with what is postponed
  std::size_t closing_ = 0;                       // number of the pass after all others
  std::map<ValueId, std::vector<Place>> places_;  // where members and operands are computed
  std::map<ValueId, std::set<std::size_t>> touches_;
  std::map<ValueId, ArrayId> arrays_;
  std::map<ValueId, CellId> single_, held_;
  SharedCells shared_;
  std::map<ValueId, Memory> memory_;
  std::map<ValueId, Batch> batches_;  // computed for all instants at once, in passes of their own
  std::map<std::pair<ValueId, std::size_t>, CellId> registers_;
  std::set<ValueId> available_;   // in the pass being written
  std::vector<Carried> carried_;  // likewise
};

}  // namespace

void build_segmented_unit(ProgramBuilder& program, std::uint32_t unit) { SegmentBuilder(program, unit).build(); }

}  // namespace rml
