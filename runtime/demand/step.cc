// The meaning of each kind of subject. A step either has all operands, or it records the first
// missing one and has no effect; it is executed again from the beginning when that operand is
// known.
#include "runtime/demand/step.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace rml::rt::demand {

namespace {

bool truth(const void* elements) { return *static_cast<const std::uint8_t*>(elements) != 0; }

auto order(const Fault& f) { return std::tuple(f.cycle, f.rank, f.number); }

}  // namespace

Step::Step(rml_header& header, void* state, const rml_demand& table, const Subjects& subjects, Cells& cells)
    : header_(header),
      state_(static_cast<char*>(state)),
      table_(table),
      subjects_(subjects),
      cells_(cells),
      effects_until_(table.n_bodies, 0) {}

void Step::record(const Fault& fault) {
  if (!fault_ || order(fault) < order(*fault_)) fault_ = fault;
}

void Step::begin_at(std::int64_t cycle) {
  for (std::int64_t& until : effects_until_) until = std::max(until, cycle);
}

// ---- known values ----

const void* Step::look(Subject s, std::int64_t cycle) {
  if (subjects_.fixed(s)) return subjects_[s].elements;
  if (cycle > now_) return nullptr;
  const Cell& cell = cells_.at(s, cycle);
  return cell.present() ? cell.data() : nullptr;
}

const void* Step::need(Subject s, std::int64_t cycle) {
  const void* const elements = look(s, cycle);
  if (elements == nullptr) wanted_ = place_of(s, cycle);
  return elements;
}

Presence Step::presence(Subject clock, std::int64_t cycle) {
  if (clock == subjects_.presence(RML_CLOCK_BASE)) return cycle <= now_ ? Presence::present : Presence::unknown;
  if (clock == subjects_.presence(RML_CLOCK_NEVER)) return Presence::absent;
  const void* const here = look(clock, cycle);
  return here == nullptr ? Presence::unknown : truth(here) ? Presence::present : Presence::absent;
}

Presence Step::need_presence(Subject clock, std::int64_t cycle) {
  const Presence here = presence(clock, cycle);
  if (here == Presence::unknown) wanted_ = place_of(clock, cycle);
  return here;
}

// ---- steps ----

Step::Outcome Step::evaluate(Place place) {
  const Equation& e = subjects_[static_cast<Subject>(place.subject)];
  const std::int64_t n = place.instant();
  switch (e.kind) {
    case Equation::body:
      return body(place, e.a);
    case Equation::result:
      // The body has stored the value in this cell as one of its results.
      return need(e.a, n) == nullptr ? waits : done;
    case Equation::same:
      return same(place, e.a, n);
    case Equation::merge: {
      const void* const condition = need(e.a, n);
      return condition == nullptr ? waits : same(place, truth(condition) ? e.b : e.c, n);
    }
    case Equation::first_or_before:
      return n == 0 ? same(place, e.a, n) : same(place, e.b, n - 1);
    case Equation::first_or_last:
      return first_or_last(place, e);
    case Equation::after:
    case Equation::next_found:
      return same(place, e.a, n + 1);
    case Equation::parameter:
      return parameter(place, e);
    case Equation::presence:
      return find_presence(place, e);
    case Equation::last:
      return find_last(place, e);
    case Equation::next:
      return find_next(place, e);
    case Equation::nothing:
    case Equation::constant:
    case Equation::input:
      break;  // an input that is absent although its clock is present; its root reports the fault
  }
  return fails;
}

Step::Outcome Step::same(Place place, Subject as, std::int64_t cycle) {
  const void* const elements = need(as, cycle);
  if (elements == nullptr) return waits;
  const auto subject = static_cast<Subject>(place.subject);
  Cell& cell = cells_.at(place);
  if (subjects_.fixed(as))
    cells_.refer(subject, cell, elements);
  else
    cells_.share(subject, cell, cells_.at(as, cycle));
  return done;
}

Step::Outcome Step::first_or_last(Place place, const Equation& e) {
  const std::int64_t n = place.instant();
  if (n == 0) return same(place, e.a, n);
  const Cell& before = cells_.at(e.b, n - 1);
  if (!before.determined()) {
    wanted_ = place_of(e.b, n - 1);
    return waits;
  }
  return before.present() ? same(place, e.b, n - 1) : same(place, e.a, n);
}

Step::Outcome Step::find_presence(Place place, const Equation& e) {
  const std::int64_t n = place.instant();
  const Presence parent = need_presence(e.a, n);
  if (parent == Presence::unknown) return waits;
  bool here = false;
  if (parent == Presence::present) {
    const void* const condition = need(e.b, n);
    if (condition == nullptr) return waits;
    here = truth(condition) == (e.c != 0);
  }
  *static_cast<std::uint8_t*>(cells_.make(static_cast<Subject>(place.subject), cells_.at(place))) = here ? 1 : 0;
  return done;
}

Step::Outcome Step::find_last(Place place, const Equation& e) {
  const std::int64_t n = place.instant();
  switch (need_presence(e.a, n)) {
    case Presence::unknown:
      return waits;
    case Presence::present:
      return same(place, e.b, n);
    case Presence::absent:
      break;
  }
  const auto subject = static_cast<Subject>(place.subject);
  const bool begins = n == 0;
  if (!begins) {
    const Cell& before = cells_.at(subject, n - 1);
    if (!before.determined()) {
      wanted_ = place_of(subject, n - 1);
      return waits;
    }
    if (before.present()) return same(place, subject, n - 1);
  }
  cells_.at(place).status = Status::absent;
  return done;
}

Step::Outcome Step::find_next(Place place, const Equation& e) {
  switch (need_presence(e.a, place.instant())) {
    case Presence::unknown:
      return waits;
    case Presence::present:
      return same(place, e.b, place.instant());
    case Presence::absent:
      break;
  }
  return same(place, static_cast<Subject>(place.subject), place.instant() + 1);
}

// The slot points to itself until the value is read, unless the host lets it point to another
// value.
Step::Outcome Step::parameter(Place place, const Equation& e) {
  void*& given = slot(e.b);
  if (given == nullptr || given == static_cast<void*>(&given)) {
    const Outcome outcome = same(place, e.a, place.instant());
    if (outcome == done) given = nullptr;
    return outcome;
  }
  const auto subject = static_cast<Subject>(place.subject);
  std::memcpy(cells_.make(subject, cells_.at(place)), given, subjects_.bytes[subject]);
  given = nullptr;
  return done;
}

void Step::keep_slots() {
  slots_.clear();
  for (std::uint32_t k = 0; k < table_.n_slots; ++k) slots_.push_back(slot(k));
}

void Step::unlook(Subject parameter) {
  const std::uint32_t k = subjects_[parameter].b;
  slot(k) = slots_[k];
}

// ---- bodies ----

Step::Outcome Step::body(Place place, std::uint32_t number) {
  const rml_body& body = table_.bodies[number];
  if (body.effect != 0 && !earlier_effects(place, number)) return waits;
  operands_.clear();
  for (std::uint32_t k = 0; k < body.n_operands; ++k) {
    operands_.push_back(need(body.operands[k], place.instant()));
    if (operands_.back() == nullptr) return waits;
  }
  return run(place, body);
}

// Returns true if the body has run at each earlier instant of its clock.
bool Step::earlier_effects(Place place, std::uint32_t number) {
  const Subject clock = subjects_.presence(table_.equations[place.subject].clock);
  for (std::int64_t& n = effects_until_[number]; n < place.instant(); ++n) {
    const Presence here = need_presence(clock, n);
    if (here == Presence::unknown) return false;
    if (here == Presence::present && need(static_cast<Subject>(place.subject), n) == nullptr) return false;
  }
  return true;
}

Step::Outcome Step::run(Place place, const rml_body& body) {
  const std::int64_t n = place.instant();
  results_.clear();
  for (std::uint32_t k = 0; k < body.n_results; ++k)
    results_.push_back(cells_.make(body.results[k], cells_.at(body.results[k], n)));
  const std::int32_t code = body.run(state_ + table_.scratch, &header_, n, operands_.data(), results_.data());
  const auto own = static_cast<Subject>(place.subject);
  if (code == RML_OK) {
    // If the cell is not one of the body's results, it still needs memory.
    if (Cell& cell = cells_.at(place); !cell.determined()) cells_.make(own, cell);
    return done;
  }
  record({n, 2, own, header_.fault, header_.site, header_.value, header_.bound});
  header_.fault = RML_OK;
  for (std::uint32_t k = 0; k < body.n_results; ++k) cells_.drop(cells_.at(body.results[k], n));
  return fails;
}

}  // namespace rml::rt::demand
