// --on-nan: looks at float outputs and cells after every cycle for values that are not finite.
//
// The first in the order of computation is the one to tell: what is computed from it comes later. A
// cell that holds an infinity to begin with (the start of a minimum, say) may hold one later. Nothing
// here runs, and nothing in the program is different, unless the option is given. A network is looked at when it has
// settled after a cycle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {

class FiniteCheck {
 public:
  FiniteCheck(const rml_program& program, const Row& outputs) : program_(program), outputs_(outputs) {}
  // A state before its first cycle here.
  void begin(const void* state);
  // The first that is not finite, in the row or in the cells; null: none.
  const rml_watch* in_row() const;
  bool is_finite(std::uint32_t output) const;  // in that row
  const rml_watch* in_state(const void* state) const;
  // "file.rml:3:7: cycle 12: not a number: loss = …". The watch is one found now, in the same row or state.
  std::string text(const rml_watch& watch, std::int64_t cycle, const void* state) const;

 private:
  // Null: there is nothing to look at.
  const void* data(const rml_watch& watch, const void* state) const;
  const void* last_element(std::uint32_t memory, const void* state) const;

  const rml_program& program_;
  const Row& outputs_;
  std::vector<bool> infinite_;  // by watch: to begin with
};

}  // namespace rml::rt
