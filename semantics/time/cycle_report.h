// Cycles of dependences, told hop by hop for diagnostics.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontend/diagnostic.h"
#include "semantics/core/components.h"

namespace rml {

struct Hop {
  ValueId from{}, to{};
  int weight = 0;         // 0 same, -1 previous, +1 next cycle
  Literal where{};        // the branch of a merge that it is, if any
  bool at_start = false;  // at the first instant only
  bool presence = false;  // `to` says whether `from` is present
};

// Which edges a cycle may use.
using Follows = std::function<bool(ValueId from, const Dependence&)>;
inline const Follows every_edge = [](ValueId, const Dependence&) { return true; };
inline const Follows within_the_cycle = [](ValueId, const Dependence& e) { return e.weight == 0; };

// A value as messages name it: "`rnn.h`", or "the gradient in `rnn`" for what `diff` made.
std::string told(const Core&, ValueId);

// A shortest cycle through `start` among `members`; empty when there is none.
std::vector<Hop> find_cycle(const DependenceGraph&, const std::vector<ValueId>& members, ValueId start, const Follows&);

// One note per hop between values that the user named (or that move in time), e.g.
// "`o` needs `u` at the next cycle".
void explain_cycle(const Core&, const std::vector<Hop>&, Diagnostic&);

// Labels the chain of instantiations that leads to a value.
void explain_instance(const Core&, ValueId, Diagnostic&);

// It is of a node that `diff` made.
bool is_derived(const Core&, ValueId);

// To who differentiates a recurrence without end.
inline constexpr const char* start_anew =
    "let the state start anew where a segment ends: `fby_end(end, init, e)` instead of `init fby e`";

// Of a component that has no schedule: what mends it where it moves a parameter, or is of gradients; else empty.
std::string training_hint(const Core& core, const std::vector<ValueId>& component);

}  // namespace rml
