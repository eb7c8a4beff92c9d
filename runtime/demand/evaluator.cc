// The requests of a cycle, and the evaluation on a stack.
#include "runtime/demand/evaluator.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/demand/keep.h"

namespace rml::rt::demand {

namespace {

constexpr std::uint32_t not_told = UINT32_MAX;

}  // namespace

Evaluator::Evaluator(rml_header& header, void* state, const rml_demand& table)
    : header_(header),
      table_(table),
      subjects_(table),
      cells_(header, subjects_.bytes),
      step_(header, state, table, subjects_, cells_) {
  for (std::uint32_t k = 0; k < table.n_roots; ++k) roots_.push_back({table.roots[k], clock_of(table.roots[k].value)});
}

// ---- a cycle ----

void Evaluator::push(const void* const* in, const std::uint8_t* present) {
  now_ = header_.pushed;
  step_.begin_cycle(now_);
  try {
    cycle(in, present);
  } catch (const Refused& refused) {
    refuse(refused);
  }
  header_.buffer_bytes = static_cast<std::int64_t>(cells_.bytes());
  if (step_.fault())
    tell_fault();
  else
    header_.pushed = now_ + 1;
}

void Evaluator::refuse(const Refused& refused) {
  step_.record({now_, 0, 0, RML_FAULT_MEMORY, not_told, static_cast<std::int64_t>(refused.bytes), 0});
}

void Evaluator::tell_fault() {
  const Fault& fault = *step_.fault();
  header_.fault = fault.kind;
  header_.site = fault.site;
  header_.fault_cycle = fault.cycle;
  header_.value = fault.value;
  header_.bound = fault.bound;
  known_ = std::max(std::min(known_, fault.cycle), header_.popped);
}

void Evaluator::settle() {
  for (const Subject s : subjects_.memories) ask(s, now_);
  for (Root& root : roots_) advance(root);
  while (known_ <= now_ && row_known(known_)) ++known_;
  if (known_ <= now_ && header_.waiting == -1 && !step_.fault()) tell_knot();
}

void Evaluator::cycle(const void* const* in, const std::uint8_t* present) {
  take_inputs(in, present);
  settle();
  const std::int64_t missing = now_ + 1 - known_;
  if (header_.horizon > 0 && missing > header_.horizon)
    step_.record({now_, 3, 0, RML_FAULT_HORIZON, not_told, known_, header_.horizon});
  if (much_is_held()) keep_what_is_needed();
}

void Evaluator::take_inputs(const void* const* in, const std::uint8_t* present) {
  for (std::uint32_t k = 0; k < table_.n_inputs; ++k) {
    const Subject s = table_.inputs[k];
    if (table_.equations[s].kind != RML_EQ_INPUT) continue;
    Cell& cell = cells_.at(s, now_);
    if (table_.equations[s].clock != RML_CLOCK_BASE && present[k] == 0)
      cell.status = Status::absent;
    else
      std::memcpy(cells_.make(s, cell), in[k], subjects_.bytes[s]);
  }
}

void Evaluator::advance(Root& root) {
  while (root.next <= now_ && settled(root, root.next)) ++root.next;
}

bool Evaluator::settled(const Root& root, std::int64_t cycle) {
  if (!ask(root.clock, cycle)) return false;
  const bool here = step_.presence(root.clock, cycle) == Presence::present;
  if (root.row.kind == RML_ROOT_INPUT) {
    const bool given = cells_.at(root.row.value, cycle).present();
    if (given == here) return true;
    step_.record(
        {cycle, 0, root.row.number, RML_FAULT_PRESENCE, root.row.site, root.row.number, std::int64_t{given ? 1 : 0}});
    return false;
  }
  if (!here) return true;
  if (!ask(root.row.value, cycle)) return false;
  if (root.row.kind != RML_ROOT_ASSERT) return true;
  if (*static_cast<const std::uint8_t*>(step_.look(root.row.value, cycle)) != 0) return true;
  step_.record({cycle, 1, root.row.number, RML_FAULT_ASSERT, root.row.site, 0, 0});
  return false;
}

bool Evaluator::row_known(std::int64_t cycle) {
  for (std::uint32_t k = 0; k < table_.n_outputs; ++k) {
    const Subject s = table_.outputs[k];
    if (!ask(clock_of(s), cycle)) return false;
    if (step_.presence(clock_of(s), cycle) == Presence::present && !ask(s, cycle)) return false;
  }
  return true;
}

// The missing row was just requested, so its cell records the place for which it waits, at the
// end of a path of one step.
void Evaluator::tell_knot() {
  for (std::uint32_t k = 0; k < table_.n_outputs; ++k)
    for (const Subject s : {clock_of(table_.outputs[k]), table_.outputs[k]}) {
      if (subjects_.fixed(s) || is_always_known(s)) continue;
      Place place = place_of(s, known_);
      const Cell& asked = cells_.at(place);
      if (asked.status == Status::blocked && asked.waits_for.instant() <= now_) place = asked.waits_for;
      if (cells_.at(place).status == Status::never) header_.waiting = knot(cells_.at(place));
    }
}

std::int32_t Evaluator::knot(const Cell& cell) {
  return cell.bits == not_told ? -1 : -2 - static_cast<std::int32_t>(cell.bits);
}

// Handles a subject that depends on itself. Of the equations on the cycle, the one with the least
// rank is reported.
void Evaluator::end_knot(Place again) {
  cells_.at(again).status = Status::never;
  unwind(again);
  constexpr int longest = 1000;
  std::uint32_t site = not_told, rank = UINT32_MAX;
  Place at = again;
  for (int k = 0; k < longest; ++k) {
    if (at.subject < table_.n_equations) {
      const rml_equation& row = table_.equations[at.subject];
      if (row.site != not_told && row.rank < rank) site = row.site, rank = row.rank;
    }
    if (step_.evaluate(at) != Step::waits) break;
    at = step_.wanted();
    if (at.instant() > now_ || (at.subject == again.subject && at.cycle == again.cycle)) break;
  }
  cells_.at(again).bits = site;
}

bool Evaluator::pop(void* const* out, std::uint8_t* present) {
  const std::int64_t n = header_.popped;
  if (n >= known_) return false;
  for (std::uint32_t k = 0; k < table_.n_outputs; ++k) {
    const Subject s = table_.outputs[k];
    const bool here = step_.presence(clock_of(s), n) == Presence::present;
    present[k] = here ? 1 : 0;
    if (here) std::memcpy(out[k], step_.look(s, n), subjects_.bytes[s]);
  }
  ++header_.popped;
  return true;
}

// Faults are not reported here: if the cycle comes, it reports them itself.
void Evaluator::lead(void* const* out, std::uint8_t* present, std::uint8_t* known) {
  if (header_.popped != header_.pushed) return;
  leads_ = true;
  step_.keep_slots();
  step_.begin_cycle(++now_);
  try {
    for (std::uint32_t k = 0; k < table_.n_outputs; ++k) {
      const Subject s = table_.outputs[k];
      if (!ask(clock_of(s), now_)) continue;
      const bool here = step_.presence(clock_of(s), now_) == Presence::present;
      if (here && !ask(s, now_)) continue;
      present[k] = here ? 1 : 0;
      if (here) std::memcpy(out[k], step_.look(s, now_), subjects_.bytes[s]);
      known[k] = 1;
    }
  } catch (const Refused& refused) {
    refuse(refused);
  }
  forget_first_looks();
  step_.begin_cycle(--now_);
  leads_ = false;
}

// Undoes reads of first values: if a state is saved before the cycle comes, it must contain the
// values that the host has given for parameters.
void Evaluator::forget_first_looks() {
  for (const Subject s : subjects_.from_outside) {
    if (subjects_[s].kind != Equation::parameter) continue;
    Cell* const cell = cells_.find(s, now_);
    if (cell == nullptr || !cell->determined()) continue;
    cells_.drop(*cell);
    step_.unlook(s);
  }
}

// ---- requests ----

// True if the cycle of the place is still to come. While `lead` requests outputs, this also holds
// for inputs and effects of the cycle whose inputs are missing.
bool Evaluator::is_to_come(Place place) const {
  if (place.instant() != now_ || !leads_) return place.instant() > now_;
  return subjects_.comes_with_inputs(static_cast<Subject>(place.subject));
}

void Evaluator::enter(Place place) {
  cells_.at(place).busy = true;
  stack_.push_back(place);
}

bool Evaluator::ask(Subject s, std::int64_t cycle) {
  if (subjects_.fixed(s) || is_always_known(s)) return true;
  const Cell& asked = cells_.at(s, cycle);
  if (asked.determined()) return true;
  if (asked.status == Status::never || is_to_come(place_of(s, cycle)) || is_over(place_of(s, cycle))) return false;
  enter(place_of(s, cycle));
  while (!stack_.empty()) {
    const Place top = stack_.back();
    Place wanted{};
    const bool blocked = cells_.at(top).status == Status::blocked;
    if (blocked) {
      wanted = cells_.at(top).waits_for;
    } else {
      const Step::Outcome outcome = step_.evaluate(top);
      if (outcome == Step::fails) {
        cells_.at(top).status = Status::never;
        cells_.at(top).bits = not_told;
        unwind(top);
        return false;
      }
      if (outcome == Step::done) {
        cells_.at(top).busy = false;
        stack_.pop_back();
        continue;
      }
      wanted = step_.wanted();
    }
    if (is_to_come(wanted)) {
      unwind(wanted);
      return false;
    }
    if (is_over(wanted)) {
      unwind(wanted);
      return false;
    }
    const Cell& cell = cells_.at(wanted);
    if (blocked && cell.determined()) {
      cells_.at(top).status = Status::unknown;
      continue;
    }
    if (cell.busy) {
      end_knot(wanted);
      return false;
    }
    // The cell is determined but absent, although it is requested. The root of the input reports this fault.
    if (cell.status == Status::never || cell.determined()) {
      unwind(wanted);
      return false;
    }
    enter(wanted);
  }
  return true;
}

// True if the place is older than everything kept. Then the value was known, or the restored
// state lacks it.
bool Evaluator::is_over(Place place) {
  if (place.instant() >= begins_ || cells_.at(place).determined()) return false;
  if (!restored_) {
    std::fputs("internal error: on demand, a value is asked for that was dropped\n", stderr);
    std::abort();
  }
  const auto* const all = table_.memories;
  const auto* const lacks =
      std::find_if(all, all + table_.n_memories, [&](Subject fby) { return subjects_[fby].b == place.subject; });
  step_.record(
      {now_, 0, 0, RML_FAULT_STATE, not_told, lacks == all + table_.n_memories ? -1 : std::int64_t{*lacks}, 0});
  return true;
}

// Blocks all subjects on the stack at one place.
void Evaluator::unwind(Place waits_for) {
  for (const Place p : stack_) {
    Cell& cell = cells_.at(p);
    cell.busy = false;
    if (cell.status == Status::never) continue;
    cell.status = Status::blocked;
    cell.waits_for = waits_for;
  }
  stack_.clear();
}

// ---- dropping values, and the reason to wait ----

// True if the cells have doubled since the last clean-up, so that each cell is inspected only a
// few times overall.
bool Evaluator::much_is_held() const {
  constexpr std::uint64_t few_cells = 1024, few_bytes = 1 << 20;
  return cells_.count() > 2 * kept_cells_ + 4 * subjects_.all.size() + few_cells ||
         cells_.in_use() > 2 * kept_bytes_ + few_bytes;
}

void Evaluator::keep_what_is_needed() {
  Keep keep(table_, subjects_, cells_, step_, marked_, begins_, now_);
  for (std::int64_t n = header_.popped; n <= now_; ++n)
    for (std::uint32_t k = 0; k < table_.n_outputs; ++k) {
      keep.mark(clock_of(table_.outputs[k]), n);
      keep.mark(table_.outputs[k], n);
    }
  for (const Root& root : roots_)
    for (std::int64_t n = root.next; n <= now_; ++n) {
      keep.mark(root.clock, n);
      keep.mark(root.row.value, n);
    }
  for (const Subject s : subjects_.memories) keep.mark(s, now_);
  keep.mark_operands();
  header_.longest_segment = std::max(header_.longest_segment, now_ + 1 - keep.oldest());
  std::int64_t begins = std::min(keep.missing(), header_.popped);
  for (const Root& root : roots_) begins = std::min(begins, root.next);
  for (const Subject s : subjects_.memories)
    if (begins > begins_) ask(s, begins - 1);
  begins_ = begins;
  keep.mark_origins(begins_);
  cells_.sweep(now_, begins_ - 1);
  step_.begin_at(begins_);
  kept_cells_ = cells_.count();
  kept_bytes_ = cells_.in_use();
}

// ---- states ----

std::int64_t Evaluator::take() {
  if (now_ >= 0) keep_what_is_needed();
  return begins_;
}

const Cell* Evaluator::known(Subject s, std::int64_t cycle) {
  const Cell* const cell = cells_.find(s, cycle);
  return cell != nullptr && cell->determined() ? cell : nullptr;
}

const Cell* Evaluator::memory(Subject fby) { return known(subjects_[fby].b, begins_ - 1); }

const Cell* Evaluator::latest(Subject fby) {
  for (std::int64_t n = now_; n >= begins_ - 1 && n >= 0; --n)
    if (const Cell* const cell = known(subjects_[fby].b, n); cell != nullptr) return cell->present() ? cell : nullptr;
  return nullptr;
}

void Evaluator::begin(std::int64_t begins, std::int64_t cycles, std::int64_t rows) {
  begins_ = begins;
  restored_ = true;
  now_ = cycles - 1;
  known_ = rows;
  header_.pushed = cycles;
  header_.popped = rows;
  step_.begin_cycle(now_);
  step_.begin_at(begins_);
  for (Root& root : roots_) root.next = begins_;
}

void Evaluator::put(Subject s, std::int64_t cycle, const void* elements) {
  Cell& cell = cells_.at(s, cycle);
  if (cell.determined()) return;  // two memories may read the same value, which is then put twice
  const std::uint64_t bytes = subjects_.bytes[s];
  void* const room = cells_.make(s, cell);
  if (bytes > 0) std::memcpy(room, elements, bytes);
}

void Evaluator::put_memory(Subject fby, const void* elements) {
  const Equation& e = subjects_[fby];
  if (elements != nullptr)
    put(e.b, begins_ - 1, elements);
  else if (e.kind == Equation::first_or_last)
    cells_.at(e.b, begins_ - 1).status = Status::absent;
}

void Evaluator::resume() {
  for (std::uint32_t k = 0; k < table_.n_inputs; ++k)
    for (std::int64_t n = begins_; n <= now_; ++n)
      if (Cell& cell = cells_.at(table_.inputs[k], n); !cell.determined()) cell.status = Status::absent;
  if (now_ >= 0) settle();
  if (step_.fault()) tell_fault();
}

void Evaluator::tell_waiting() {
  header_.waiting = -1;
  if (header_.fault != RML_OK) return;
  if (now_ >= 0) keep_what_is_needed();  // the reported window of cells includes the end of the input
  if (header_.popped > now_) return;
  for (std::uint32_t k = 0; k < table_.n_outputs; ++k) {
    const Subject s = table_.outputs[k];
    for (const Subject asked : {clock_of(s), s}) {
      if (ask(asked, header_.popped)) {
        if (step_.presence(clock_of(s), header_.popped) == Presence::absent) break;
        continue;
      }
      header_.waiting = waiting_of(place_of(asked, header_.popped));
      return;
    }
  }
}

// Follows the missing values step by step to the end; returns the last condition on the way.
std::int32_t Evaluator::waiting_of(Place at) {
  std::int32_t condition = -1;
  for (;;) {
    Cell& cell = cells_.at(at);
    if (cell.status == Status::never) return knot(cell);
    const Equation& e = subjects_[static_cast<Subject>(at.subject)];
    if (e.cut != not_told) condition = static_cast<std::int32_t>(e.cut);
    if (e.kind == Equation::next && subjects_[e.a].cut != not_told)
      condition = static_cast<std::int32_t>(subjects_[e.a].cut);
    if (step_.evaluate(at) != Step::waits || step_.wanted().instant() > now_) return condition;
    at = step_.wanted();
    if (!ask(static_cast<Subject>(at.subject), at.instant())) continue;
    return condition;
  }
}

}  // namespace rml::rt::demand
