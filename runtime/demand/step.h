// Evaluates one cell from others that are known, or says which one is missing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/demand/cells.h"
#include "runtime/demand/subjects.h"
#include "runtime/demand/table.h"

namespace rml::rt::demand {

enum class Presence : std::uint8_t { unknown, absent, present };

// Of several the one that comes first is told: by cycle, then inputs, asserts, equations, each by number.
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

  // The last cycle that is there.
  void begin_cycle(std::int64_t now) { now_ = now; }

  enum Outcome : std::uint8_t { done, waits, fails };
  Outcome evaluate(Place place);
  // What was missing.
  Place wanted() const { return wanted_; }
  void record(const Fault&);
  const std::optional<Fault>& fault() const { return fault_; }

  // What is known already; null, unknown: not yet.
  const void* look(Subject s, std::int64_t cycle);
  Presence presence(Subject clock, std::int64_t cycle);
  // Of parameters: what the host has given, as it is now; and again as it was then.
  void keep_slots();
  void unlook(Subject parameter);
  // At every earlier instant what has an effect has run.
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
  std::vector<std::int64_t> effects_until_;  // by body: instants before which it has run
  std::optional<Fault> fault_;
};

}  // namespace rml::rt::demand
