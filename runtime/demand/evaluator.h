// Evaluates a table of equations on demand, and keeps values only as long as they may be
// requested.
//
// Problem: for some programs no fixed order of computation is correct. A value may depend on
// others at earlier and later instants, and the values themselves determine which ones.
//
// Method: a subject at an instant is evaluated when it is requested. Missing operands are
// evaluated first, on an explicit stack. If this leads to an instant that does not exist yet, all
// subjects on the stack are blocked, and each of their cells records that place. The next request
// continues at the recorded place, as in union-find, so a chain of n instants takes n steps. A
// subject that is met again during its own evaluation depends on itself, and never gets a value.
//
// In every cycle the memories are requested first, then the roots (checks of inputs, assertions,
// values with effects), each in the order of its instants, and then rows, the oldest first, up to
// the first unknown one. When the number of cells has doubled, the cells that neither missing
// rows nor memories can reach through unknown cells are dropped (keep.h).
//
// A state consists of the memories as of one instant and everything that came from outside since.
// All other values can be computed again from these; values computed later do not depend on
// anything older.
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

  // Computes one cycle. After a fault the header has the fault, and the cycle is not counted.
  void push(const void* const* in, const std::uint8_t* present);
  bool pop(void* const* out, std::uint8_t* present);
  // Computes the known outputs of the next cycle before its inputs exist. All known rows must
  // have been handed out.
  void lead(void* const* out, std::uint8_t* present, std::uint8_t* known);
  // Stores in the header what the next row waits for.
  void tell_waiting();

  std::int64_t cycles() const { return now_ + 1; }
  std::int64_t rows() const { return known_; }
  // Prepares a state: returns the instant at which it begins. All known rows must have been
  // handed out.
  std::int64_t take();
  // For the state prepared by `take`: the value that the fby reads at its beginning; null if it
  // is unknown and not needed.
  const Cell* memory(Subject fby);
  // The latest known value that the fby reads.
  const Cell* latest(Subject fby);
  // Returns a value that came from outside; null if it has not come.
  const Cell* given(Subject s, std::int64_t cycle) { return known(s, cycle); }

  // Starts to restore a state with these numbers of cycles and rows; the evaluator must be new.
  void begin(std::int64_t begins, std::int64_t cycles, std::int64_t rows);
  void put_memory(Subject fby, const void* elements);  // sets the memory of a fby; null: it has no value yet
  void put(Subject s, std::int64_t cycle, const void* elements);
  // Computes everything possible. Values that were not put are absent. May leave a fault in the
  // header.
  void resume();

 private:
  // A value that is requested at every instant, in order.
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

  // Evaluates a value if necessary; returns true if it is known.
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
  std::vector<Place> marked_;  // memory that Keep reuses
  std::int64_t now_ = -1;      // number of the last cycle; -1: none
  bool leads_ = false;         // the inputs of that cycle are missing
  std::int64_t known_ = 0;     // number of known rows
  std::int64_t begins_ = 0;    // first cycle whose values are available; older ones were dropped
  bool restored_ = false;
  std::uint64_t kept_cells_ = 0, kept_bytes_ = 0;
};

Evaluator& evaluator_of(const void* state, const rml_demand& table);

}  // namespace rml::rt::demand
