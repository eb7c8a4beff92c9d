// Which cells may still be asked for.
//
// From what is asked for in cycles to come (rows that are missing, what is behind, memories) along the operands of
// cells that are not known: those that are known ask for nothing. Conditions that are known leave out the branch that
// is not taken. Instants to come are not looked at: what they need of those that are there, they need through memories.
//
// For a state, all of this can be computed again from less: the memories as of one instant, no later than any cell that
// is not known, and what came from outside since. These are kept as well, from that instant on, so that it can be any
// later one the next time.
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
  // Everything older than `floor` is over. `marked` is room to work in, which one gives the next.
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
  // Of all that is marked.
  void mark_operands();
  // What a state that begins at this instant, or later, is made of.
  void mark_origins(std::int64_t begins);

  std::int64_t oldest() const { return oldest_; }    // instant of a cell that is marked
  std::int64_t missing() const { return missing_; }  // … that is not known; otherwise what comes after `now`

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
