// The subjects, which can be requested at an instant: the equations of a table, the presence of
// each clock, and for each fby (or post) on a sampled clock a search for the last (or next)
// instant at which its operand is present.
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
    body,             // computed by a body; a: its number
    result,           // computed together with another equation; a: the equation whose body computes both
    same,             // the value of a, at the same instant
    merge,            // a merge; a: its condition; b, c: its values if the condition is true or false
    first_or_before,  // fby at every cycle: the value of a at cycle 0, then that of b at the cycle before
    // fby on a sampled clock: the result of search b at the cycle before; if there is none, a
    first_or_last,
    after,       // post at every cycle: the value of a at the cycle after
    next_found,  // post on a sampled clock: the result of search a from the cycle after
    parameter,   // a parameter; a: its value; b: number of its slot
    // presence of a clock; a: presence of its parent; b: condition; c: value of the condition
    presence,
    last,  // a search backwards; a: presence of the clock; b: the value
    next,
  };
  Kind kind = nothing;
  Subject a = 0, b = 0, c = 0;
  // index in rml_program::cuts of the condition that ends the wait for this one
  std::uint32_t cut = UINT32_MAX;
  const void* elements = nullptr;  // elements of a constant; null for other subjects
};

struct Subjects {
  explicit Subjects(const rml_demand&);

  const Equation& operator[](Subject s) const { return all[s]; }
  bool fixed(Subject s) const { return all[s].kind == Equation::constant; }
  Subject presence(std::uint32_t clock) const { return first_clock + clock; }
  // True for inputs and for values with an effect: they cannot be requested before the inputs of
  // their cycle exist.
  bool comes_with_inputs(Subject s) const { return with_inputs[s]; }

  std::vector<Equation> all;
  std::vector<std::uint64_t> bytes;  // indexed by subject: size of its elements
  std::vector<Subject> memories;     // values that later instants may read through a memory
  // Values that cannot be computed again: inputs, results with effects, first values of
  // parameters.
  std::vector<Subject> from_outside;
  std::vector<bool> with_inputs;  // one per subject: true if it depends on inputs
  Subject first_clock;

 private:
  Subject add(Equation, std::uint64_t size);
};

}  // namespace rml::rt::demand
