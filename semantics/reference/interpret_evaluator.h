// The demand-driven evaluator behind the reference engine.
//
// What can be asked for is a cell: a subject (a value, a clock's presence, the presence
// check of an input, an assert) at a cycle. A cell is evaluated when it is first demanded;
// when it needs another one that is not determined, that one is evaluated first, on an
// explicit stack. What cannot be had yet (a cycle not read, a cell that itself waits) leaves
// the cell blocked in the list of waiters of the one thing it waits for, and it goes on when
// that is determined: every cell is resumed at most once per operand, and a cell that needs
// itself waits for ever. Determined cells are never computed again.
//
// Cells live in one frame per cycle. Old frames are dropped from the front: see settle().
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "semantics/reference/chronogram.h"
#include "semantics/reference/run_fault.h"

namespace rml::reference {

using SharedTensor = std::shared_ptr<const Tensor>;

enum class Status : std::uint8_t { unknown, active, blocked, present, absent };

// A subject at a cycle, in 8 bytes.
struct Place {
  std::uint64_t subject : 24 = 0xffffff;
  std::uint64_t cycle : 40 = 0;
  bool valid() const { return subject != 0xffffff; }
};

struct State {
  SharedTensor value;        // of values, when present; a call's points to its first output
  Place waiters;             // head of the list of cells blocked by this one
  Place next_waiter;         // when blocked: the next cell blocked by the same
  std::uint32_t walked = 0;  // cycles already seen to be absent, looking for an instant
  Status status = Status::unknown;
  bool determined() const { return status == Status::present || status == Status::absent; }
};

class Evaluator {
 public:
  using Subject = std::uint32_t;

  // Runs an iteration: fills the outputs, which have their types and shapes already; or the first fault.
  using Iterate = std::optional<RunFault> (*)(const Iteration&, std::span<const Tensor* const> operands,
                                              std::span<Tensor> outputs);

  Evaluator(const Core& core, std::uint64_t seed, CallExternal call, Iterate iterate);

  Subject of(ValueId v) const { return v.index; }
  Subject of(ClockId c) const { return clocks_begin_ + c.index; }
  Subject presence_check(std::size_t input) const { return checks_begin_ + static_cast<Subject>(input); }
  Subject assertion(std::size_t i) const { return asserts_begin_ + static_cast<Subject>(i); }

  // The fby whose memory is kept across frames; their `next` must be demanded in every cycle.
  void keep(std::vector<ValueId> fbys) { kept_ = std::move(fbys); }

  void give(std::uint64_t key, Tensor value) { given_[key] = std::make_shared<const Tensor>(std::move(value)); }

  // Opens a cycle and resumes what waited for it.
  void open_cycle(std::vector<Cell> inputs);
  void demand(Subject subject, std::int64_t cycle);
  // The cell if it is determined and still held.
  const State* find(Subject subject, std::int64_t cycle) const;

  // Cycles [held_from, cycles) have frames.
  std::int64_t held_from() const { return first_; }
  std::int64_t cycles() const { return cycles_; }

  // True if the oldest frame can be dropped: nothing in it is blocked, hence nothing in it
  // will be demanded for the first time (only blocked cells and later cycles make demands,
  // and of an earlier cycle those ask only for the `next` of a fby, which was demanded).
  bool settled() const { return !frames_.empty() && frames_.front().pending == 0; }
  // Drops the oldest frame, which is settled; what fbys remember of it is kept.
  void drop_frame();

  // Values each of which waits for the next, and the last for the first, if the cell waits for such: none of them
  // will ever be known. Empty if it waits for a cycle not read.
  std::vector<ValueId> knot(Subject subject, std::int64_t cycle);

  // The first fault by cycle, then presence, asserts, operators.
  const std::optional<RunFault>& fault() const { return fault_; }

 private:
  struct Frame {
    std::vector<State> states;
    std::vector<SharedTensor> inputs;  // null: absent
    std::size_t pending = 0;           // blocked cells
  };
  // What an Apply passes to its row in every cycle.
  struct Application {
    std::vector<DType> dtypes;
    std::vector<Shape> shapes;
  };

  void run();
  void push(Place place, State& state);
  void block(Place place, State& state);
  void wake(Place& waiters);
  bool readable(Place place) const { return static_cast<std::int64_t>(place.cycle) < cycles_; }
  Frame& frame(std::int64_t cycle) { return frames_[static_cast<std::size_t>(cycle - first_)]; }
  State& at(Place place) { return frame(place.cycle).states[place.subject]; }

  // The cell if it is determined; otherwise notes what the current cell waits for.
  const State* need(Subject subject, std::int64_t cycle);
  SharedTensor need_value(ValueId v, std::int64_t cycle);

  // Evaluate one cell: true when its status is determined, false when it must wait.
  bool step(Place place, State& state);
  bool step_value(ValueId v, std::int64_t cycle, State& state);
  bool step_clock(ClockId c, std::int64_t cycle, State& state);
  bool step_check(std::uint32_t input, std::int64_t cycle, State& state);
  bool step_assert(std::uint32_t i, std::int64_t cycle, State& state);
  // The value at an instant of its clock; null: must wait.
  SharedTensor compute(ValueId v, std::int64_t cycle, State& state);
  SharedTensor apply(ValueId v, const core::Apply& rhs, std::int64_t cycle);
  SharedTensor call(ValueId v, const core::Call& rhs, std::int64_t cycle);
  SharedTensor fby(ValueId v, const core::Fby& rhs, std::int64_t cycle, State& state);
  SharedTensor post(ValueId v, const core::Post& rhs, std::int64_t cycle, State& state);
  bool operands(const std::vector<ValueId>& values, std::int64_t cycle);
  void record(const RunFault& fault);

  const Core& core_;
  const std::uint64_t seed_;
  const CallExternal call_;
  const Iterate iterate_;
  const Subject clocks_begin_, checks_begin_, asserts_begin_, subjects_;
  std::unordered_map<std::uint64_t, SharedTensor> given_;  // to params, by key
  std::vector<Application> applications_;                  // by ValueId
  std::vector<const State*> fixed_;  // by Subject: the same in every cycle (constants, base, never)
  std::deque<State> fixed_states_;
  std::vector<ValueId> kept_;
  std::vector<SharedTensor> remembered_;  // by ValueId: a fby's `next` at the last instant before first_

  std::deque<Frame> frames_;
  std::vector<Frame> spare_;
  std::int64_t first_ = 0;
  std::int64_t cycles_ = 0;
  Place next_cycle_;  // head of the cells that wait for cycle cycles_
  std::vector<Place> stack_;
  Place wanted_;  // what the cell just stepped waits for; invalid: for nothing to come
  std::vector<SharedTensor> operand_values_;
  std::vector<const Tensor*> operand_pointers_;
  std::optional<RunFault> fault_;
};

}  // namespace rml::reference
