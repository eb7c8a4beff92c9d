// A program of steps while it is built: its storage, and the statements that every kind of unit writes.
//
// There is a queue for every stream that crosses units, with one reader per use. Cells and arrays are made by the units
// that own them, in the order in which these are written.
#pragma once

#include <map>
#include <vector>

#include "lowering/schedule/schedule.h"
#include "lowering/steps/step_writer.h"
#include "lowering/steps/steps.h"
#include "lowering/steps/streams.h"

namespace rml {

class ProgramBuilder {
 public:
  // Makes units without statements, with their operands and queues.
  ProgramBuilder(const Schedule&, const Streams&, bool network);
  // With unique names for all that is kept.
  steps::Program finish() &&;

  const Schedule& schedule() const { return schedule_; }
  const Streams& streams() const { return streams_; }
  const Core& core() const { return *schedule_.core; }
  steps::Unit& unit(std::uint32_t index) { return program_.units[index]; }

  // The memory of a fby; the one that a unit written before keeps.
  CellId cell(ValueId fby, Tensor initial);
  CellId settled_cell(ValueId fby) const { return cell_of_.at(fby); }
  // Another of the same type: as it was at the start of a segment, or a register of a sweep.
  CellId copy_of(ValueId v, bool local);
  // A register of a sweep that says whether something has been met.
  CellId flag(bool initial);
  // Kept from one instant to the next.
  CellId truth_before(ValueId condition, bool initial);
  // One element of it in a segment.
  CellId kept(ValueId v);
  ArrayId array(ValueId like, std::uint32_t unit);
  std::uint32_t site(Span, std::string message);
  // The condition that ends segments, for messages; its place in Program::cuts.
  std::uint32_t cut(Literal);

  // Writes `value` under the path (all but fby and post, which need storage); then what hangs on it: asserts.
  void compute(StepWriter&, const TestPath& clock, const TestPath& where, ValueId value);
  // Outputs (straight) or queues that take the value.
  void hand_out(StepWriter&, const TestPath&, ValueId value);
  // The next element of a memory's stream (Schedule::delayed).
  void hand_out_next(StepWriter&, const TestPath&, ValueId memory, ValueId next);
  // Its asserts.
  void check(StepWriter&, const TestPath&, ValueId value);

 private:
  steps::Operand operand(ValueId v, ClockId reader_clock, bool belated = false);
  void add_sites();
  void add_units();
  void add_operands(std::size_t unit);
  void add_emitter();
  void add_inputs();
  void find_passing();
  void add_parameters();
  void read_input(StepWriter&, const TestPath& clock, ValueId value);

  const Schedule& schedule_;
  const Streams& streams_;
  steps::Program program_;
  std::vector<QueueId> queue_of_;                       // by ValueId
  std::map<ValueId, CellId> cell_of_;                   // of fbys
  std::vector<std::vector<std::uint32_t>> outputs_of_;  // by ValueId (straight)
  std::vector<std::vector<std::uint32_t>> asserts_of_;  // by ValueId: sites
};

}  // namespace rml
