// Which cells may still be asked for.
//
// From what is asked for in cycles to come (rows that are missing, what is behind, memories) along the operands of
// cells that are not known: those that are known ask for nothing. Conditions that are known leave out the branch that
// is not taken. Instants to come are not looked at: what they need of those that are there, they need through memories.
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
  Keep(const rml_demand& table, const Subjects& subjects, Cells& cells, Step& step, std::int64_t now)
      : table_(table), subjects_(subjects), cells_(cells), step_(step), now_(now) {}

  void mark(Subject, std::int64_t cycle);
  // Of all that is marked.
  void mark_operands();

 private:
  void mark_operands_of(Place);
  void mark_search(const Equation&, Place, std::int64_t next);

  const rml_demand& table_;
  const Subjects& subjects_;
  Cells& cells_;
  Step& step_;
  const std::int64_t now_;
  std::vector<Place> marked_;
};

}  // namespace rml::rt::demand
