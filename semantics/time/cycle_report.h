// Cycles of dependences, with one note per hop, for diagnostics.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontend/diagnostic.h"
#include "semantics/core/components.h"

namespace rml {

struct Hop {
  ValueId from{}, to{};
  int weight = 0;         // instant of the needed value: 0 the same, -1 the previous, +1 the next one
  Literal where{};        // the condition of the branch, if the edge leaves a merge by a branch
  bool at_start = false;  // true if the edge exists only at the first instant
  bool presence = false;  // `to` is a condition of the clock of `from`
};

// Selects the edges that a cycle may use.
using Follows = std::function<bool(ValueId from, const Dependence&)>;
inline const Follows every_edge = [](ValueId, const Dependence&) { return true; };
inline const Follows within_the_cycle = [](ValueId, const Dependence& e) { return e.weight == 0; };

// A value as messages name it: "`rnn.h`", or "the gradient in `rnn`" for code made by `diff`.
std::string told(const Core&, ValueId);

// A shortest cycle through `start` among `members`; empty if there is none.
std::vector<Hop> find_cycle(const DependenceGraph&, const std::vector<ValueId>& members, ValueId start, const Follows&);

// Adds one note per hop between values that the user named (or that delay or look ahead), e.g.
// "`o` needs `u` at the next cycle".
void explain_cycle(const Core&, const std::vector<Hop>&, Diagnostic&);

// Adds labels for the chain of calls that leads to the value's instance.
void explain_instance(const Core&, ValueId, Diagnostic&);

// True if the value belongs to a node that `diff` made.
bool is_derived(const Core&, ValueId);

// A hint for the user who differentiates an endless recurrence.
inline constexpr const char* start_anew =
    "restart the state at the end of a segment: write `fby_end(end, init, e)` instead of `init fby e`";

// A hint for a component without a schedule that changes a parameter or computes gradients; else
// empty.
std::string training_hint(const Core& core, const std::vector<ValueId>& component);

}  // namespace rml
