// A program of steps under construction: its storage, and the statements that every kind of unit writes.
//
// Every stream that crosses units has a queue, with one reader per use. Units create their own cells and arrays, in the
// order in which they are written.
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
  // Finishes the program and gives every cell, array and queue a unique name.
  steps::Program finish() &&;

  const Schedule& schedule() const { return schedule_; }
  const Streams& streams() const { return streams_; }
  const Core& core() const { return *schedule_.core; }
  steps::Unit& unit(std::uint32_t index) { return program_.units[index]; }

  // Returns the cell of a fby, which is made at the first call.
  CellId cell(ValueId fby, Tensor initial);
  CellId settled_cell(ValueId fby) const { return cell_of_.at(fby); }
  // Another cell of the same type: a copy from the start of a segment, or a register of a sweep.
  CellId copy_of(ValueId v, bool local);
  // A Boolean register of a sweep, which records that an event has occurred.
  CellId flag(bool initial);
  // Makes a cell for a Boolean that is kept from one instant to the next.
  CellId truth_before(ValueId condition, bool initial);
  // Makes a cell for a value of which a segment has one element.
  CellId kept(ValueId v);
  ArrayId array(ValueId like, std::uint32_t unit);
  std::uint32_t site(Span, std::string message);
  // The index in Program::cuts of the condition that ends segments, for messages.
  std::uint32_t cut(Literal);

  // Writes `value` under the path (all but fby and post, which need storage), then the asserts on it.
  void compute(StepWriter&, const TestPath& clock, const TestPath& where, ValueId value);
  // Hands the value to the outputs (straight programs) or queues that take it.
  void hand_out(StepWriter&, const TestPath&, ValueId value);
  // Hands out the next element of a memory's stream (Schedule::delayed).
  void hand_out_next(StepWriter&, const TestPath&, ValueId memory, ValueId next);
  // Writes the asserts on the value.
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
  std::vector<QueueId> queue_of_;      // the queue of each value, by ValueId
  std::map<ValueId, CellId> cell_of_;  // the cell of each memory, by its fby
  // For straight programs, indexed by ValueId: the outputs that the value is.
  std::vector<std::vector<std::uint32_t>> outputs_of_;
  std::vector<std::vector<std::uint32_t>> asserts_of_;  // indexed by ValueId: sites of the asserts that check it
};

}  // namespace rml
