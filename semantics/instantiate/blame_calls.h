// Reports errors inside the standard library at the user's call, with the arguments of the call.
// If the library shows the intended use, the message says how to write it.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "semantics/instantiate/solve_shapes.h"

namespace rml::draft {

// True for an instance of a node of the library.
bool in_library(const Draft&, const Program&, InstanceId);

// The values on which `from` depends through values that satisfy `passes`, and `from` itself.
std::set<DraftId> reached(const Draft&, DraftId from, const std::function<bool(DraftId)>& passes);

// The call in the user's code that leads to `span` in the library, for an instance; nothing if
// there is none.
std::optional<InstanceId> call_into_library(const Draft&, const Program&, InstanceId inner, Span span);

// An error in a value of an instance.
struct Blame {
  DraftId value;
  InstanceId instance;
  const Problem& problem;
};

// Reports an error at a call that leads to its instance.
void report_at_call(InstanceId call, const Blame&, const Draft&, const Program&, const States&, Diagnostics&);

// The inputs of the entry that have no written type, that count as scalars therefore, and on which
// the value depends.
std::vector<DraftId> untyped_scalars(const Draft&, const Program&, const States&, DraftId);

}  // namespace rml::draft
