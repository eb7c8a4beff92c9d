// Marks the needed subjects depth first. Every marked subject has a cell.
#include "runtime/demand/keep.h"

#include <algorithm>

namespace rml::rt::demand {

void Keep::mark(Subject s, std::int64_t cycle) {
  if (subjects_.fixed(s) || cycle < 0 || cycle > now_) return;
  if (s == subjects_.presence(RML_CLOCK_BASE) || s == subjects_.presence(RML_CLOCK_NEVER)) return;
  Cell& cell = cells_.at(s, cycle);
  if (cell.marked) return;
  cell.marked = true;
  oldest_ = std::min(oldest_, cycle);
  if (cell.determined() || cycle < floor_) return;
  missing_ = std::min(missing_, cycle);
  marked_.push_back(place_of(s, cycle));
}

void Keep::mark_origins(std::int64_t begins) {
  const auto keep = [&](Subject s, std::int64_t from) {
    for (std::int64_t n = std::max<std::int64_t>(from, 0); n <= now_; ++n)
      if (Cell* const cell = cells_.find(s, n); cell != nullptr && cell->determined()) cell->marked = true;
  };
  for (const Subject s : subjects_.memories) keep(s, begins - 1);
  for (const Subject s : subjects_.from_outside) keep(s, begins);
}

void Keep::mark_operands() {
  while (!marked_.empty()) {
    const Place place = marked_.back();
    marked_.pop_back();
    mark_operands_of(place);
  }
}

void Keep::mark_operands_of(Place place) {
  const Equation& e = subjects_[static_cast<Subject>(place.subject)];
  const std::int64_t n = place.instant();
  switch (e.kind) {
    case Equation::body: {
      const rml_body& body = table_.bodies[e.a];
      for (std::uint32_t k = 0; k < body.n_operands; ++k) mark(body.operands[k], n);
      break;
    }
    case Equation::result:
    case Equation::same:
    case Equation::parameter:
      mark(e.a, n);
      break;
    case Equation::merge: {
      mark(e.a, n);
      const auto* const condition = static_cast<const std::uint8_t*>(step_.look(e.a, n));
      if (condition == nullptr || *condition != 0) mark(e.b, n);
      if (condition == nullptr || *condition == 0) mark(e.c, n);
      break;
    }
    case Equation::first_or_before:
      n == 0 ? mark(e.a, n) : mark(e.b, n - 1);
      break;
    case Equation::first_or_last:
      mark(e.b, n - 1);
      mark(e.a, n);
      break;
    case Equation::after:
    case Equation::next_found:
      mark(e.a, n + 1);
      break;
    case Equation::presence:
      mark(e.a, n);
      if (step_.presence(e.a, n) != Presence::absent) mark(e.b, n);
      break;
    case Equation::last:
      mark_search(e, place, n - 1);
      break;
    case Equation::next:
      mark_search(e, place, n + 1);
      break;
    case Equation::nothing:
    case Equation::constant:
    case Equation::input:
      break;
  }
}

void Keep::mark_search(const Equation& e, Place place, std::int64_t next) {
  mark(e.a, place.instant());
  const Presence here = step_.presence(e.a, place.instant());
  if (here != Presence::absent) mark(e.b, place.instant());
  if (here != Presence::present) mark(static_cast<Subject>(place.subject), next);
}

}  // namespace rml::rt::demand
