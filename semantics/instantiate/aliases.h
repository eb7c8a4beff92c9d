// Aliases: values that only stand for another one.
//
// Following them is following a function from values to values; a cycle of it is an
// equation such as `x = x`, which no value satisfies in particular.
#pragma once

#include <functional>
#include <vector>

#include "semantics/instantiate/draft.h"

namespace rml::draft {

// For each value the end of its chain; next says what a value stands for, or nothing.
// A value on a cycle ends where the cycle was entered; every cycle is passed to on_cycle.
std::vector<DraftId> follow(std::size_t values, const std::function<DraftId(DraftId)>& next,
                            const std::function<void(const std::vector<DraftId>&)>& on_cycle);

// Rewrites every mention of an alias to what it stands for. `x = x` is E0501.
void resolve_aliases(Draft& draft, const Program& program, Diagnostics& diagnostics);

// E0501 for values that stand for one another.
void report_alias_cycle(const Draft& draft, const Program& program, const std::vector<DraftId>& cycle,
                        Diagnostics& diagnostics);

// E0501 for values each of which needs the next within the cycle, and the last the first.
void report_value_cycle(const Draft& draft, const Program& program, const std::vector<DraftId>& cycle,
                        Diagnostics& diagnostics);

}  // namespace rml::draft
