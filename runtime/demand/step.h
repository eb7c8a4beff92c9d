// Evaluates one cell from known cells, or reports the missing one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/demand/cells.h"
#include "runtime/demand/subjects.h"
#include "runtime/demand/table.h"

namespace rml::rt::demand {

enum class Presence : std::uint8_t { unknown, absent, present };

// Of several faults the first one is reported, ordered by cycle, then by rank (inputs,
// assertions, equations), then by number.
struct Fault {
  std::int64_t cycle = 0;
  std::uint32_t rank = 0, number = 0;
  std::int32_t kind = RML_OK;
  std::uint32_t site = UINT32_MAX;
  std::int64_t value = 0, bound = 0;
};

class Step {
 public:
  Step(rml_header& header, void* state, const rml_demand& table, const Subjects& subjects, Cells& cells);

  // Begins a cycle. `now` is its number.
  void begin_cycle(std::int64_t now) { now_ = now; }

  enum Outcome : std::uint8_t { done, waits, fails };
  Outcome evaluate(Place place);
  // The cell that is missing, if `evaluate` returned `waits`.
  Place wanted() const { return wanted_; }
  void record(const Fault&);
  const std::optional<Fault>& fault() const { return fault_; }

  // Known values only: null, or unknown, if the value is not known yet.
  const void* look(Subject s, std::int64_t cycle);
  Presence presence(Subject clock, std::int64_t cycle);
  // For parameters: keep_slots saves the values that the host has given, and unlook restores one
  // of them.
  void keep_slots();
  void unlook(Subject parameter);
  // Assumes that all effects of earlier instants have happened.
  void begin_at(std::int64_t cycle);

 private:
  Outcome same(Place place, Subject as, std::int64_t cycle);
  Outcome body(Place place, std::uint32_t number);
  Outcome run(Place place, const rml_body&);
  bool earlier_effects(Place place, std::uint32_t number);
  Outcome find_presence(Place place, const Equation&);
  Outcome find_last(Place place, const Equation&);
  Outcome find_next(Place place, const Equation&);
  Outcome first_or_last(Place place, const Equation&);
  Outcome parameter(Place place, const Equation&);
  void*& slot(std::uint32_t k) { return *reinterpret_cast<void**>(state_ + table_.slots[k]); }
  const void* need(Subject s, std::int64_t cycle);
  Presence need_presence(Subject clock, std::int64_t cycle);

  rml_header& header_;
  char* const state_;
  const rml_demand& table_;
  const Subjects& subjects_;
  Cells& cells_;
  std::int64_t now_ = -1;
  Place wanted_{};
  std::vector<void*> slots_;
  std::vector<const void*> operands_;
  std::vector<void*> results_;
  // indexed by body: number of instants for which its effect has happened
  std::vector<std::int64_t> effects_until_;
  std::optional<Fault> fault_;
};

}  // namespace rml::rt::demand
