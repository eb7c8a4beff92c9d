// Steps: the imperative form of a scheduled program, from which code is emitted.
//
// A program is a list of units in topological order. A unit consumes one instant of its clock at a time. Between units,
// values travel through queues, one element per instant of the value's clock. There are two kinds:
//
//   forward    one block of statements per instant
//   segmented  one block per instant as its operands arrive (the leading sweep), which
//              stores values that later sweeps need into segment arrays; at the instant
//              where the cut holds, the other sweeps run as loops over the segment, forward
//              or backward, and a new segment begins
//
// A program is straight if its only unit is forward and runs at every cycle: its inputs are read and its outputs
// written in place, without queues.
//
// Inside a block every ValueId names the value at the current instant: a scalar is a register, a tensor a scratch
// buffer. A value is defined once on every path that uses it. Values defined inside a branch are used only inside it,
// except through Copy into a value used after it. Reading a place and computing are separate statements, so every
// effect of a block on the state is explicit:
//
//   %4 := cell[0]                          o = 0 fby u     (Load)
//   %6 := add %4 %5                        u = o + 1       (Compute)
//   cell[0] := %6                                          (Store, at the end of the block)
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "semantics/core/core.h"

namespace rml {

using CellId = Id<struct CellTag>;    // one element that lives from instant to instant
using ArrayId = Id<struct ArrayTag>;  // one element per instant of the current segment of its unit
using QueueId = Id<struct QueueTag>;

namespace steps {

struct CellInfo {
  DType dtype{};
  Shape shape;
  Tensor initial;      // initial contents; without elements (0 elements, rank 0, zero bytes): all zeros
  bool local = false;  // lives only while one sweep runs (a loop-carried register), starts as `initial`
  std::string name;    // name, unique among all storage that is not local, here and below
  ValueId fby;         // the fby whose memory the cell is; invalid: the cell is a copy
};

struct ArrayInfo {
  DType dtype{};
  Shape shape;
  std::uint32_t unit = 0;
  std::string name;
};

// A ring that grows when full; every reader has its own cursor and sees every element.
struct QueueInfo {
  DType dtype{};
  Shape shape;
  std::uint32_t readers = 0;
  std::vector<std::uint32_t> skips;  // one per reader: number of elements that it skips at the beginning (post)
  bool overtaken = false;            // true if some reader may advance past elements that have not been pushed yet
  std::string name;
  ValueId first = {};  // for networks: the constant with which the queue begins; invalid: none
  ValueId fby = {};    // for networks: the fby whose memory the queue then is
  // The caller supplies the elements, and all readers take each in the cycle that brings it: elements are only counted,
  // not stored.
  bool passing = false;
};

struct Block;

// Computes the value from its right-hand side: a Const, an Apply, or a Call with all its results.
struct Compute {
  ValueId value;
};
// Copies a value for a `when`, or the taken branch of a `merge`. Both have the same dtype and shape.
struct Copy {
  ValueId to, from;
};
struct LoadCell {
  ValueId value;
  CellId cell;
};
struct StoreCell {
  CellId cell;
  ValueId value;
};
struct MoveCell {
  CellId to, from;
};
// Loads the element at the current position of the segment.
struct LoadArray {
  ValueId value;
  ArrayId array;
};
struct StoreArray {
  ArrayId array;
  ValueId value;
};
struct Push {
  QueueId queue;
  ValueId value;
};
// Takes an Input from the caller (straight programs), or pops it from its queue (Unit::raw_inputs).
struct LoadInput {
  ValueId value;
};
// Hands a value to the caller. Only straight programs have this statement.
struct StoreOutput {
  std::uint32_t output;
  ValueId value;
};
// Input `input` must be present (or absent) here; otherwise the run stops with RML_FAULT_PRESENCE.
struct Expect {
  std::uint32_t input;
  bool present;
};
// Stops the run with RML_FAULT_ASSERT if the condition is false.
struct Assert {
  ValueId condition;
  std::uint32_t site;
};
// The value that a Boolean cell must have; otherwise the run stops with RML_FAULT_SIDE.
struct SideCell {
  CellId cell;
  bool positive;
  std::uint32_t site;
};

// In the leading block of a segmented unit, where the cut is computed: sets the unit's `last` flag to condition ==
// positive. The flag is false at the beginning of every instant. The statement does not run at instants where the cut
// is absent: these are not last.
struct MarkLast {
  ValueId condition;
  bool positive;
};

// A product over all instants of the segment. A matrix is either a value that is the same at all instants, or an array,
// which holds one block per instant; strides are in elements.
//   rows valid: rows, [length * m, n], := a [length * m, inner] times b [inner, n]
//   else:       sum, [m, n],           := a [m, length * inner] times b [length * inner, n]
struct SegmentMatrix {
  ArrayId array;
  ValueId held;
  std::int64_t row = 0, column = 0;
};
struct SegmentProduct {
  ValueId value;
  SegmentMatrix a, b;
  std::int64_t m = 0, inner = 0, n = 0;
  ArrayId rows;
  CellId sum;
  CellId onto;  // the cell to which the sum is added; invalid: no cell
};

// The condition of a branch: a Boolean value of this instant, or the place of the instant in its segment. In the
// leading block `last` is tested only after MarkLast.
struct Test {
  enum Kind : std::uint8_t { value, first, last } kind = value;
  ValueId condition;
  bool positive = true;
  friend bool operator==(const Test&, const Test&) = default;
};
struct Branch {
  Test test;
  std::unique_ptr<Block> then_block, else_block;  // never null; may be empty
};

using Statement = std::variant<Compute, Copy, LoadCell, StoreCell, MoveCell, LoadArray, StoreArray, Push, LoadInput,
                               StoreOutput, Expect, Assert, SideCell, MarkLast, SegmentProduct, Branch>;
struct Block {
  std::vector<Statement> statements;
};

// A value that a unit reads from a queue at every one of its instants where the value's clock is present. The
// conditions of a clock precede the values on it, and all conditions between the unit's clock and an operand's clock
// are operands of the unit themselves.
//
// A unit may run an instant when every present operand has an element waiting. If its clock is base, it must also have
// run fewer instants than cycles were pushed, because a unit on base may have no operand. Before the block runs, all
// operands are popped and defined. The same holds for the emitter and its rows.
struct Operand {
  ValueId value;
  QueueId queue;
  std::uint32_t reader = 0;
  std::vector<std::pair<ValueId, bool>> when;  // the output is present if all of these hold, outermost first
  // The unit reads the element only where all of these hold as well (operands before this one, on its clock). Elsewhere
  // the element need not have arrived, and the value is zero.
  std::vector<std::pair<ValueId, bool>> needed;
  // The unit reads the first element only. Later ones need not arrive and are not stored, and the value is zero. An
  // example is the initial value of a parameter.
  bool once = false;
  // The element belongs to the previous instant, and only `Unit::before` reads it.
  bool belated = false;
};

struct Sweep {
  bool backward = false;
  Block prologue;  // runs once before the loop; sets local cells, and computes products over the segment
  Block body;      // runs at each instant; may test for the first and the last one
};

struct Unit {
  std::string name;
  ClockId clock;
  std::vector<Operand> operands;
  std::vector<std::uint32_t> raw_inputs;
  // Networks: the units whose cells this unit reads. Those cells keep their value from their first instant on.
  std::vector<std::uint32_t> after;
  Block instant;
  // For segmented units only.
  bool segmented = false;
  // Only if the unit has belated operands: handles them, and the position of the previous instant, if the segment has
  // one. Then this block marks the last instant, instead of `instant`, and the sweeps run before `instant`.
  Block before;
  bool looks_back() const { return !before.statements.empty(); }
  // After `instant` of the last instant of a segment (its flag was set by MarkLast), the sweeps run over the whole
  // segment.
  std::vector<Sweep> sweeps;    // the sweeps after the leading one, in order
  Block commit;                 // runs after the sweeps, with the position at the last instant
  std::uint32_t cut_index = 0;  // index into Program::cuts
};

// The rows that pop hands out: outputs read from queues, on base. The operands follow the rules of a unit's operands.
struct Emitter {
  std::vector<Operand> operands;                                 // conditions of outputs, followed by the outputs
  std::vector<std::pair<std::uint32_t, std::uint32_t>> outputs;  // pairs of an output and its index in `operands`
};

struct Site {
  Span span;
  std::string message;
};

struct CutInfo {
  std::string condition;
  Span span;
};

// A use of a parameter's initial value. A parameter may have several uses, or none that is ever read.
struct ParameterInfo {
  std::string path;
  DType dtype{};
  Shape shape;
  ValueId site;  // the `param` operator, which is computed once in a run; invalid: none
  CellId cell;   // the cell that keeps the parameter; invalid: none
};

// A value that can be checked from outside for being finite: a float output, or a memory, identified by its fby.
struct Watch {
  std::uint32_t output = UINT32_MAX;
  ValueId fby;
  CellId cell;    // the cell of the memory; invalid if the memory is in a queue
  QueueId queue;  // the queue whose last element the memory is
  ValueId value;  // the shown value; for a memory, the stored value
  ValueId named;  // the value whose equation explains more: `value`, or the fby if only it has a name
};

// A value that is a memory shifted by a few rows (find_windows.h). The cell is a ring, so no rows are moved.
struct Window {
  CellId cell;
  ValueId entering;       // the values of the new rows
  std::int64_t rows = 0;  // number of new rows; divides the number of all rows
  bool newest_first = true;
};

// A matrix in a cell that gets a second copy (find_packs.h).
// B [inner, n], whose element (k, j) is element k * row + j * column of the cell.
struct Pack {
  CellId cell;
  std::int64_t inner = 0, n = 0, row = 0, column = 0;
  std::int64_t rows = 0;   // rows of the products, if few (their panels are wider); 5 for any more
  std::uint32_t unit = 0;  // for networks: the unit that owns the pack
  friend auto operator<=>(const Pack&, const Pack&) = default;
};
struct Packs {
  std::vector<Pack> list;
  // By product: its pack. The operand need not be in the cell at every instant.
  std::map<ValueId, std::size_t> of;
};

struct OnDemand;  // defined in lowering/demand/on_demand.h
struct Leader;    // defined in lowering/steps/leader.h

struct Program {
  std::shared_ptr<const Core> core;
  // If it is set, the program has equations instead of units, rows and queues.
  std::shared_ptr<const OnDemand> on_demand;
  // One per external node: the body of an iteration, a straight program; null: it is no iteration.
  std::vector<std::shared_ptr<Program>> bodies;
  bool straight = false;
  bool network = false;  // units are tasks that run side by side (runtime/scheduler/network.h)
  std::vector<CellInfo> cells;
  std::vector<ArrayInfo> arrays;
  std::vector<QueueInfo> queues;
  // By input: the queue to which it is pushed (always-present inputs), or flags and values (sub-clocks). Invalid if no
  // unit reads the input, and in straight programs.
  std::vector<QueueId> input_queues;
  std::vector<QueueId> input_flags;
  std::vector<Unit> units;
  Block lead;  // straight programs: the statements that need no input of their cycle (find_lead.h)
  // programs that are not straight: the same statements as a program of their own; may be null
  std::shared_ptr<const Leader> leader;
  Emitter emitter;                         // hands out rows; unused in straight programs
  std::vector<Site> sites;                 // sites of asserts, zero-delay cycles, and operators that can fail
  std::vector<std::uint32_t> value_sites;  // indexed by ValueId: its site; UINT32_MAX: the value cannot fail
  std::vector<CutInfo> cuts;
  std::vector<ParameterInfo> parameters;
  std::vector<bool> inlined;  // one per ValueId: true if it is computed inside the loops that read it
  // The values that can be checked from outside, in the order of computation (find_watches.h).
  std::vector<Watch> watches;
  // Windows by the value that they hold. No other statement uses the cell of a window, nor a value loaded from it.
  std::map<ValueId, Window> windows;
  Packs packs;
};

// The text form of a program (`rmlc show schedule`): units, statements, storage with bytes.
std::string print(const Program&);

}  // namespace steps
}  // namespace rml
