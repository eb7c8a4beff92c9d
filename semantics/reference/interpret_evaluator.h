// The demand-driven evaluator of the reference engine.
//
// A cell is a subject (a value, a clock's presence, the presence check of an input, an assert) at
// a cycle. A cell is evaluated when it is first demanded. If it needs another cell that is not
// determined, that one is evaluated first, on an explicit stack. If that cell cannot be
// determined yet (a future cycle, a cell that is blocked itself), the current cell is blocked: it
// joins the list of waiters of that cell, and is resumed when that is determined. Each cell is
// resumed at most once per operand; a cell that needs itself waits for ever. Determined cells are
// never computed again.
//
// Cells are stored in one frame per cycle. Old frames are dropped from the front: see settled().
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
  SharedTensor value;        // the tensor of a present value; for a call: its first output
  Place waiters;             // head of the list of cells that wait for this one
  Place next_waiter;         // if blocked: the next cell blocked by the same cell
  std::uint32_t walked = 0;  // cycles already found absent in a search for an instant
  Status status = Status::unknown;
  bool determined() const { return status == Status::present || status == Status::absent; }
};

class Evaluator {
 public:
  using Subject = std::uint32_t;

  // Runs an iteration: fills the outputs, which already have their types and shapes, or returns
  // the first fault.
  using Iterate = std::optional<RunFault> (*)(const Iteration&, std::span<const Tensor* const> operands,
                                              std::span<Tensor> outputs);

  Evaluator(const Core& core, std::uint64_t seed, CallExternal call, Iterate iterate);

  Subject of(ValueId v) const { return v.index; }
  Subject of(ClockId c) const { return clocks_begin_ + c.index; }
  Subject presence_check(std::size_t input) const { return checks_begin_ + static_cast<Subject>(input); }
  Subject assertion(std::size_t i) const { return asserts_begin_ + static_cast<Subject>(i); }

  // The fby whose memory is kept when frames are dropped; their `next` must be demanded in every
  // cycle.
  void keep(std::vector<ValueId> fbys) { kept_ = std::move(fbys); }

  void give(std::uint64_t key, Tensor value) { given_[key] = std::make_shared<const Tensor>(std::move(value)); }

  // Opens a cycle and resumes the cells that waited for it.
  void open_cycle(std::vector<Cell> inputs);
  void demand(Subject subject, std::int64_t cycle);
  // The cell if it is determined and still stored.
  const State* find(Subject subject, std::int64_t cycle) const;

  // Cycles [held_from, cycles) have frames.
  std::int64_t held_from() const { return first_; }
  std::int64_t cycles() const { return cycles_; }

  // True if the oldest frame can be dropped: none of its cells is blocked, so none will be
  // demanded for the first time. Only blocked cells and later cycles make demands; of an earlier
  // cycle they demand only the `next` of a fby, which has been demanded before.
  bool settled() const { return !frames_.empty() && frames_.front().pending == 0; }
  // Drops the oldest frame, which must be settled; the memories of fbys are kept.
  void drop_frame();

  // The values of a cycle of waiting cells that the cell waits for: none of them will ever be
  // known. Empty if the cell waits for a future cycle.
  std::vector<ValueId> knot(Subject subject, std::int64_t cycle);

  // The first fault, ordered by cycle, then by kind: presence, asserts, operators.
  const std::optional<RunFault>& fault() const { return fault_; }

 private:
  struct Frame {
    std::vector<State> states;
    std::vector<SharedTensor> inputs;  // tensors of the inputs; null: the input is absent
    std::size_t pending = 0;           // number of blocked cells
  };
  // Arguments of an operator that are the same in every cycle.
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

  // The cell if it is determined; otherwise records it as the reason for which the current cell
  // waits.
  const State* need(Subject subject, std::int64_t cycle);
  SharedTensor need_value(ValueId v, std::int64_t cycle);

  // Evaluates one cell: true if its status is determined, false if it must wait.
  bool step(Place place, State& state);
  bool step_value(ValueId v, std::int64_t cycle, State& state);
  bool step_clock(ClockId c, std::int64_t cycle, State& state);
  bool step_check(std::uint32_t input, std::int64_t cycle, State& state);
  bool step_assert(std::uint32_t i, std::int64_t cycle, State& state);
  // The value at an instant of its clock; null: it must wait.
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
  std::unordered_map<std::uint64_t, SharedTensor> given_;  // loaded parameters, found by their key
  std::vector<Application> applications_;                  // arguments of each operator, one entry per ValueId
  // One per Subject: states that never change (constants, base, never).
  std::vector<const State*> fixed_;
  std::deque<State> fixed_states_;
  std::vector<ValueId> kept_;
  // One per ValueId: the operand `next` of a fby at the last instant before first_.
  std::vector<SharedTensor> remembered_;

  std::deque<Frame> frames_;
  std::vector<Frame> spare_;
  std::int64_t first_ = 0;
  std::int64_t cycles_ = 0;
  Place next_cycle_;  // head of the list of cells that wait for the cycle cycles_
  std::vector<Place> stack_;
  Place wanted_;  // the cell that the last step waits for; invalid: none
  std::vector<SharedTensor> operand_values_;
  std::vector<const Tensor*> operand_pointers_;
  std::optional<RunFault> fault_;
};

}  // namespace rml::reference
