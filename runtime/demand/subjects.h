// What can be asked for at an instant: the equations of a table, the presence of each clock, and of a fby (a post) on a
// sampled clock the search for the last (next) instant at which it is present.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/demand/cells.h"
#include "runtime/demand/table.h"

namespace rml::rt::demand {

struct Equation {
  enum Kind : std::uint8_t {
    nothing,
    constant,
    input,
    body,             // a: its number
    result,           // a: whose body computes this one as well
    same,             // a
    merge,            // a: the condition; b, c
    first_or_before,  // fby at every cycle: a at cycle 0, then b at the cycle before
    first_or_last,    // … on a sampled clock: what the search b has found at the cycle before, or a
    after,            // post at every cycle: a
    next_found,       // … on a sampled clock: the search a, from the cycle after
    parameter,        // a; b: the slot
    presence,         // of a clock. a: its parent's; b: the condition; c: which of its values
    last,             // search. a: the presence of the clock; b: what
    next,
  };
  Kind kind = nothing;
  Subject a = 0, b = 0, c = 0;
  std::uint32_t cut = UINT32_MAX;  // in rml_program::cuts: what would make this one superfluous
  const void* elements = nullptr;  // of a constant
};

struct Subjects {
  explicit Subjects(const rml_demand&);

  const Equation& operator[](Subject s) const { return all[s]; }
  bool fixed(Subject s) const { return all[s].kind == Equation::constant; }
  Subject presence(std::uint32_t clock) const { return first_clock + clock; }
  // An input, or what has an effect: of a cycle whose inputs are to come it cannot be asked for.
  bool comes_with_inputs(Subject s) const { return with_inputs[s]; }

  std::vector<Equation> all;
  std::vector<std::uint64_t> bytes;  // of each
  std::vector<Subject> memories;     // what an instant to come may look back at
  // What cannot be computed again: inputs, results of what has an effect, first values of parameters.
  std::vector<Subject> from_outside;
  std::vector<bool> with_inputs;  // by subject
  Subject first_clock;

 private:
  Subject add(Equation, std::uint64_t size);
};

}  // namespace rml::rt::demand
