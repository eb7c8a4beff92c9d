// Finds the cells that may still be requested.
//
// Later cycles request missing rows, roots that are behind, and memories. From these, it follows
// the operands of unknown cells; a known cell requests nothing. If the condition of a merge is
// known, the other branch is ignored. Future instants are not considered, because they depend on
// existing instants through memories only.
//
// A state needs fewer values: the memories as of one instant, which is not later than any unknown
// cell, and everything that came from outside since. These are also kept from that instant on, so
// that a later instant can be chosen next time.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/demand/cells.h"
#include "runtime/demand/step.h"
#include "runtime/demand/subjects.h"
#include "runtime/demand/table.h"

namespace rml::rt::demand {

class Keep {
 public:
  // floor: older values are no longer available. marked: memory that is reused from one object to
  // the next.
  Keep(const rml_demand& table, const Subjects& subjects, Cells& cells, Step& step, std::vector<Place>& marked,
       std::int64_t floor, std::int64_t now)
      : table_(table),
        subjects_(subjects),
        cells_(cells),
        step_(step),
        floor_(floor),
        now_(now),
        oldest_(now),
        missing_(now + 1),
        marked_(marked) {
    marked_.clear();
  }

  void mark(Subject, std::int64_t cycle);
  // Marks the operands of all marked cells.
  void mark_operands();
  // Marks everything that a state which begins at this instant or later needs.
  void mark_origins(std::int64_t begins);

  std::int64_t oldest() const { return oldest_; }  // earliest instant of a marked cell
  // earliest instant of a marked unknown cell; now + 1 if there is none
  std::int64_t missing() const { return missing_; }

 private:
  void mark_operands_of(Place);
  void mark_search(const Equation&, Place, std::int64_t next);

  const rml_demand& table_;
  const Subjects& subjects_;
  Cells& cells_;
  Step& step_;
  const std::int64_t floor_, now_;
  std::int64_t oldest_, missing_;
  std::vector<Place>& marked_;
};

}  // namespace rml::rt::demand
