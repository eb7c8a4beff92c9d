// Aliases: values that stand for another value.
//
// Aliases form a function from values to values. A cycle of this function is an equation such as
// `x = x`, which determines no value.
#pragma once

#include <functional>
#include <vector>

#include "semantics/instantiate/draft.h"

namespace rml::draft {

// For each value, the end of its chain; `next` returns the value for which another one stands, or
// invalid. A value that leads into a cycle ends where its chain enters the cycle. Each cycle is
// passed to on_cycle.
std::vector<DraftId> follow(std::size_t values, const std::function<DraftId(DraftId)>& next,
                            const std::function<void(const std::vector<DraftId>&)>& on_cycle);

// Replaces each use of an alias by the value for which it stands. Reports `x = x` as E0501.
void resolve_aliases(Draft& draft, const Program& program, Diagnostics& diagnostics);

// Reports E0501 for values that stand for each other.
void report_alias_cycle(const Draft& draft, const Program& program, const std::vector<DraftId>& cycle,
                        Diagnostics& diagnostics);

// Reports E0501 for values each of which needs the next one within the cycle, and the last one
// the first.
void report_value_cycle(const Draft& draft, const Program& program, const std::vector<DraftId>& cycle,
                        Diagnostics& diagnostics);

}  // namespace rml::draft
