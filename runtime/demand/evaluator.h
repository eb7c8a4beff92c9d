// Evaluates a table of equations by need, and keeps what is known no longer than somebody may ask for it.
//
// Problem: programs for which no one order of computation is right. A value may need others at instants before and
// after its own, and which ones it needs depends on values.
//
// Method: a subject at an instant is evaluated when it is asked for. What it needs and does not have is evaluated
// first, on an explicit stack. Where that ends at an instant that is not there yet, all that is on the stack waits for
// it, and each cell remembers the place: the next request looks there first, and is sent further on, as in
// union-find, so that n instants of a chain cost n steps. A subject that is met again while it is evaluated needs
// itself, and is never known.
//
// In every cycle the memories are asked for, then what else has to be, each in the order of its instants, then rows,
// the oldest first, up to the first that is not known. What rows that are missing, and memories, can reach through
// cells that are not known is kept; the rest is dropped when the number of cells has doubled (keep.h).
//
// A state is the memories as of one instant and what came from outside since: all else is computed again from these.
// What has been computed since does not depend on what is older.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/demand/cells.h"
#include "runtime/demand/step.h"
#include "runtime/demand/subjects.h"
#include "runtime/demand/table.h"

namespace rml::rt::demand {

class Evaluator {
 public:
  Evaluator(rml_header& header, void* state, const rml_demand& table);

  // One cycle. A fault is in the header then, and the cycle is not counted.
  void push(const void* const* in, const std::uint8_t* present);
  bool pop(void* const* out, std::uint8_t* present);
  // Of the next cycle, before it is there: the outputs that are known. Known rows have been handed out.
  void lead(void* const* out, std::uint8_t* present, std::uint8_t* known);
  // Says in the header what the next row waits for.
  void tell_waiting();

  std::int64_t cycles() const { return now_ + 1; }
  std::int64_t rows() const { return known_; }
  // Every known row has been handed out. The instant at which the state begins.
  std::int64_t take();
  // Of it: what a fby looks back at then; null: that is not known, and it is not needed.
  const Cell* memory(Subject fby);
  // … as late as that is known.
  const Cell* latest(Subject fby);
  // What came since; null: it has not.
  const Cell* given(Subject s, std::int64_t cycle) { return known(s, cycle); }

  // Into a state fresh from init: a state with these numbers of cycles and rows.
  void begin(std::int64_t begins, std::int64_t cycles, std::int64_t rows);
  void put_memory(Subject fby, const void* elements);  // null: it has no value yet
  void put(Subject s, std::int64_t cycle, const void* elements);
  // What is not given has been absent. Computes what can be; a fault is in the header then.
  void resume();

 private:
  // Each is asked for at every instant, in order.
  struct Root {
    rml_root row;
    Subject clock;
    std::int64_t next = 0;
  };

  void cycle(const void* const* in, const std::uint8_t* present);
  void take_inputs(const void* const* in, const std::uint8_t* present);
  void advance(Root&);
  bool settled(const Root&, std::int64_t cycle);
  bool row_known(std::int64_t cycle);
  void tell_knot();
  bool is_always_known(Subject s) const {
    return s == subjects_.presence(RML_CLOCK_BASE) || s == subjects_.presence(RML_CLOCK_NEVER);
  }
  Subject clock_of(Subject s) const { return subjects_.presence(table_.equations[s].clock); }

  // Whether it is known; it is evaluated if need be.
  bool ask(Subject s, std::int64_t cycle);
  bool is_to_come(Place) const;
  void forget_first_looks();
  void enter(Place);
  bool is_over(Place);
  void unwind(Place waits_for);

  const Cell* known(Subject s, std::int64_t cycle);
  void settle();
  void refuse(const Refused&);
  void tell_fault();
  bool much_is_held() const;
  void keep_what_is_needed();
  std::int32_t waiting_of(Place);
  void end_knot(Place again);
  static std::int32_t knot(const Cell& never);

  rml_header& header_;
  const rml_demand& table_;
  const Subjects subjects_;
  Cells cells_;
  Step step_;
  std::vector<Root> roots_;
  std::vector<Place> stack_;
  std::vector<Place> marked_;  // by the Keep before
  std::int64_t now_ = -1;      // the last cycle that is there
  bool leads_ = false;         // but for its inputs
  std::int64_t known_ = 0;     // rows
  std::int64_t begins_ = 0;    // what is older is over
  bool restored_ = false;
  std::uint64_t kept_cells_ = 0, kept_bytes_ = 0;
};

Evaluator& evaluator_of(const void* state, const rml_demand& table);

}  // namespace rml::rt::demand
