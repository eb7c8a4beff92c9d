// Checks float outputs and cells after every cycle for values that are not finite (--on-nan).
//
// The first such value in the order of computation is reported, since later ones may be computed
// from it. A cell that contains an infinity in the beginning (such as the start of a minimum) may
// contain one later. Without the option, no check runs and the program is unchanged. A network is
// checked when it has settled after a cycle.
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
  // Starts the check. `state` is the state before its first cycle in this run.
  void begin(const void* state);
  // The first value that is not finite, in the row or in the cells; null if there is none.
  const rml_watch* in_row() const;
  bool is_finite(std::uint32_t output) const;  // checks an output of that row
  const rml_watch* in_state(const void* state) const;
  // "file.rml:3:7: cycle 12: not a number: loss = …". The watch must be one that was just found
  // in the same row or state.
  std::string text(const rml_watch& watch, std::int64_t cycle, const void* state) const;

 private:
  // The address of a watched value in the state; null if there is nothing to check.
  const void* data(const rml_watch& watch, const void* state) const;
  const void* last_element(std::uint32_t memory, const void* state) const;

  const rml_program& program_;
  const Row& outputs_;
  std::vector<bool> infinite_;  // one per watched value: true if it had an infinity at the beginning
};

}  // namespace rml::rt
