// Writing the statements of one block, one value after another.
//
// A statement is written under a path of tests: the conditions of its value's clock, then
// where in a segment the instant lies. Consecutive statements under one test share its
// branch, so a run of values on one clock costs one test:
//
//     y = when c x     (path: c)          if c { y := x; z := add y 1 } else {}
//     z = y + 1        (path: c)      ⟹
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "lowering/build_steps.h"
#include "lowering/schedule.h"
#include "lowering/steps.h"

namespace rml {

using TestPath = std::vector<steps::Test>;  // outermost first; Test::positive says which side

class StepWriter {
 public:
  using Rename = std::function<steps::Test(const steps::Test&)>;  // to one that says the same
  explicit StepWriter(steps::Block& block, Rename rename = {}) : block_(block), rename_(std::move(rename)) {}
  void write(const TestPath&, steps::Statement);

 private:
  bool settle(TestPath&) const;

  steps::Block& block_;
  Rename rename_;
};

// The tests between a unit's clock and a value's.
TestPath clock_path(const Core&, ClockId unit, ClockId value);
// Paths that together cover exactly a set of classes of instants; none for the empty set.
std::vector<TestPath> class_paths(std::uint8_t classes);
TestPath operator+(TestPath, const TestPath&);

// Whether v is `memory` (a fby or post), sampled or not.
bool kept(const Core&, ValueId v, ValueId memory);
// Where the value that `memory` has next differs from the one it has, and what it is there;
// `next` invalid: nowhere.
//
//   p = fby e q;  q = merge c x (p when not c)        where c holds: x
struct Change {
  TestPath where;
  ValueId next;
};
Change what_changes(const Core&, ValueId memory, ValueId next);

// What all units of a program share while it is built.
class ProgramBuilder {
 public:
  ProgramBuilder(const Schedule& schedule, const StepOptions& options);
  steps::Program build();

  const Schedule& schedule() const { return schedule_; }
  const StepOptions& options() const { return options_; }
  const Core& core() const { return *schedule_.core; }
  steps::Program& program() { return program_; }

  // The memory of a fby.
  CellId cell(ValueId fby, Tensor initial);
  // Another of the same type: as it was at the start of a segment, or a register of a pass.
  CellId copy_of(ValueId v, bool local);
  // A register of a pass that says whether something has been met.
  CellId flag(bool initial);
  // One element of it in a segment.
  CellId kept(ValueId v);
  ArrayId array(ValueId like, std::uint32_t unit);
  steps::Operand operand(ValueId v, ClockId reader_clock);
  // A memory that keeps what it has at its first instant, in a unit that runs whenever a cycle is pushed: other units
  // find it in its cell. Where nothing ever moves a parameter, say.
  bool settled(ValueId v) const { return settled_[v.index]; }
  CellId settled_cell(ValueId v) const { return cell_of_.at(v); }

  // Writes `value` under `path` (all but fby and post, which need storage); then what hangs
  // on it: asserts.
  void compute(StepWriter&, const TestPath& clock, const TestPath& where, ValueId value);
  // Outputs (straight) or queues that take the value.
  void hand_out(StepWriter&, const TestPath&, ValueId value);
  bool handed_out(ValueId value) const;
  // The next element of a memory's stream (Schedule::delayed).
  void hand_out_next(StepWriter&, const TestPath&, ValueId memory, ValueId next);
  // Its asserts.
  void check(StepWriter&, const TestPath&, ValueId value);
  // A condition of some clock.
  bool tells_clock(ValueId value) const { return tells_clock_[value.index]; }
  // Whether a statement of the unit that is being written has set the value.
  bool defined(ValueId value) const { return defined_in_[value.index] == unit_ + 1; }
  void define(ValueId value) { defined_in_[value.index] = unit_ + 1; }
  bool checked(ValueId value) const { return !asserts_of_[value.index].empty(); }
  std::uint32_t site(Span, std::string message);

 private:
  void find_settled();
  void storage();
  void sites();
  void inputs();
  void find_passing();
  void forward_unit(std::uint32_t index);
  void emitter();
  void parameters();
  void read_input(StepWriter&, const TestPath& clock, ValueId value);

  const Schedule& schedule_;
  const StepOptions& options_;
  steps::Program program_;
  std::vector<QueueId> queue_of_;                       // by ValueId
  std::vector<bool> settled_;                           // by ValueId
  std::vector<bool> tells_clock_;                       // by ValueId
  std::vector<std::uint32_t> defined_in_;               // by ValueId: its unit's number, from 1; 0: not yet
  std::uint32_t unit_ = 0;                              // that is being written
  std::vector<bool> prompt_;                            // by unit: it runs in the cycle that is pushed
  std::map<ValueId, CellId> cell_of_;                   // of fbys
  std::vector<std::vector<std::uint32_t>> outputs_of_;  // by ValueId (straight)
  std::vector<std::vector<std::uint32_t>> asserts_of_;  // by ValueId: sites
};

// lowering/name_memories.cc: what a fby's memory is called, and names that differ for all that is kept.
std::string memory_name(const Core&, ValueId fby);
void make_names_unique(steps::Program&);

// lowering/build_segment.cc
void build_segmented_unit(ProgramBuilder&, std::uint32_t unit);

}  // namespace rml
