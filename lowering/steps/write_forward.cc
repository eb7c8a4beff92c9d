// Writes values in the order of the schedule. A fby is read where it is scheduled. A scalar memory is written as soon
// as it has been read and its next value is known; a tensor only at the end of the block, because its readers may use
// the cell in place.
#include "lowering/steps/write_forward.h"

#include <algorithm>
#include <map>
#include <set>

#include "lowering/schedule/clock_path.h"
#include "semantics/core/queries.h"
#include "semantics/time/memories.h"

namespace rml {

namespace {

// Writes the blocks of one forward unit, value by value.
class ForwardUnit {
 public:
  ForwardUnit(ProgramBuilder& builder, std::uint32_t unit)
      : builder_(builder),
        core_(builder.core()),
        streams_(builder.streams()),
        from_(builder.schedule().units[unit]),
        out_(builder.unit(unit).instant) {}

  void write() {
    const bool straight = builder_.schedule().straight;
    find_lazy();
    for (ValueId v : from_.values)
      if (builder_.schedule().is_delayed(v)) delayed_[std::get<core::Fby>(core_[v].rhs).next].push_back(v);
    for (ValueId v : from_.operands) {
      defined_.insert(v);
      if (straight) out_.write({}, steps::LoadInput{v});
      if (streams_.settled[v.index]) out_.write({}, steps::LoadCell{v, builder_.settled_cell(v)});
    }
    for (ValueId v : from_.values)
      if (!builder_.schedule().is_delayed(v) || looks_at(v)) add(v);
    for (const Store& s : at_end_) write_store(s);
    if (straight)
      for (ValueId v : from_.operands) builder_.hand_out(out_, {}, v);
  }

 private:
  struct Store {
    ValueId fby, next;
    CellId cell;
  };

  bool looks_at(ValueId memory) const {
    return streams_.tells_clock[memory.index] || std::ranges::any_of(from_.values, [&](ValueId v) {
             bool looks = false;
             for_each_operand(core_[v].rhs, [&](ValueId o) { looks = looks || o == memory; });
             return looks;
           });
  }

  TestPath path(ValueId v) const { return path(core_[v].clock); }
  TestPath path(ClockId c) const { return tests(clock_path(core_, from_.clock, c)); }

  void add(ValueId v) {
    if (const auto* f = std::get_if<core::Fby>(&core_[v].rhs)) {
      add_fby(v, *f);
    } else {
      for_each_operand(core_[v].rhs, [&](ValueId o) { need(o); });
      builder_.compute(out_, path(v), {}, v);
    }
    defined_.insert(v);
    builder_.hand_out(out_, path(v), v);
    if (const auto at = delayed_.find(v); at != delayed_.end())
      for (const ValueId memory : at->second) builder_.hand_out_next(out_, path(v), memory, v);
    if (const auto at = waiting_.find(v); at != waiting_.end())
      for (const Store& s : at->second) store(s);
  }

  void add_fby(ValueId v, const core::Fby& f) {
    const bool constant = core_.is_const(f.init);
    const CellId c = builder_.cell(v, constant ? std::get<core::Const>(core_[f.init].rhs).value : Tensor());
    if (constant) {
      if (lazy_.contains(v))
        pending_[v] = c;
      else
        out_.write(path(v), steps::LoadCell{v, c});
    } else {
      need(f.init);
      const TestPath start = path(f.init);
      TestPath later = start;
      later.back().positive = !later.back().positive;
      out_.write(start, steps::Copy{v, f.init});
      out_.write(later, steps::LoadCell{v, c});
    }
    builder_.check(out_, path(v), v);
    const bool known = core_.is_const(f.next) || defined_.contains(f.next) || f.next == v;
    if (known)
      store({v, f.next, c});
    else
      waiting_[f.next].push_back({v, f.next, c});
  }

  // Stores scalars immediately, and tensors at the end of the block, so that loaded tensors can be read in place.
  void store(const Store& s) {
    need(s.fby);
    need(s.next);
    if (core_[s.next].shape.empty())
      write_store(s);
    else
      at_end_.push_back(s);
  }

  // Leaves out the store if the memory keeps its value. But at the first instant a computed initial value must be
  // stored, because the cell does not have it.
  void write_store(const Store& s) {
    const ValueId init = std::get<core::Fby>(core_[s.fby].rhs).init;
    const Change change = what_changes(core_, s.fby, s.next);
    const bool sometimes = !change.next.valid() || !change.where.empty();
    if (sometimes && !core_.is_const(init)) out_.write(path(init), steps::StoreCell{s.cell, s.fby});
    if (change.next.valid()) out_.write(path(s.fby) + tests(change.where), steps::StoreCell{s.cell, change.next});
  }

  // Finds scalar cells that are loaded at their first use, and only on the clock of their uses: registers are then live
  // for a short time, and a value that is only sampled is not loaded at other instants.
  void find_lazy() {
    for (ValueId v : from_.values)
      if (const auto* f = std::get_if<core::Fby>(&core_[v].rhs); f != nullptr && core_.is_const(f->init))
        if (core_[v].shape.empty() && !streams_.handed_out[v.index] && !streams_.checked[v.index] &&
            !streams_.tells_clock[v.index])
          lazy_.emplace(v, ClockId{});
    for (ValueId user : from_.values) {
      const bool samples = std::holds_alternative<core::When>(core_[user].rhs);
      for_each_operand(core_[user].rhs, [&](ValueId o) {
        const auto at = lazy_.find(o);
        if (at == lazy_.end()) return;
        const ClockId use = samples ? core_[user].clock : core_[o].clock;
        at->second = at->second.valid() ? common_clock(core_, at->second, use) : use;
      });
    }
  }

  void need(ValueId v) {
    const auto at = pending_.find(v);
    if (at == pending_.end()) return;
    ClockId use = lazy_.at(v);
    // The condition of a clock that is not computed yet cannot be tested.
    for (const ClockId c : ancestors(core_, use, from_.clock))
      if (!defined_.contains(core_[c].condition)) use = core_[c].parent;
    if (use.valid()) out_.write(path(use), steps::LoadCell{v, at->second});
    pending_.erase(at);
  }

  ProgramBuilder& builder_;
  const Core& core_;
  const Streams& streams_;
  const ScheduledUnit& from_;
  StepWriter out_;
  std::set<ValueId> defined_;                      // values that a statement or an operand has defined so far
  std::map<ValueId, std::vector<Store>> waiting_;  // stores that wait for a `next` value, by that value
  // Memories whose stream continues with a `next` value, by that value.
  std::map<ValueId, std::vector<ValueId>> delayed_;
  std::vector<Store> at_end_;
  std::map<ValueId, ClockId> lazy_;    // indexed by memory: the clock of all its uses; invalid: none
  std::map<ValueId, CellId> pending_;  // memories that are not loaded yet, with their cells
};

}  // namespace

void write_forward_unit(ProgramBuilder& builder, std::uint32_t unit) { ForwardUnit(builder, unit).write(); }

}  // namespace rml
