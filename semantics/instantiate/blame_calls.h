// Reports errors inside the standard library at the user's call, with the arguments of the call.
// If the library shows the intended use, the message says how to write it.
#pragma once

#include <optional>

#include "semantics/instantiate/solve_shapes.h"

namespace rml::draft {

// The call in the user's code that leads to `span` in the library, for an instance; nothing if
// there is none.
std::optional<InstanceId> call_into_library(const Draft&, const Program&, InstanceId inner, Span span);

// Reports an error in an instance at a call that leads there.
void report_at_call(InstanceId call, InstanceId inner, const Problem&, const Draft&, const Program&, const States&,
                    Diagnostics&);

}  // namespace rml::draft
