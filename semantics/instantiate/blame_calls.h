// What fails inside the standard library is told where users called it: with what the call was given, and, where the
// library shows what was meant, how it is written.
#pragma once

#include <optional>

#include "semantics/instantiate/solve_shapes.h"

namespace rml::draft {

// The call in users' code that leads to what is at `span`, in the library, in an instance; nothing if none does.
std::optional<InstanceId> call_into_library(const Draft&, const Program&, InstanceId inner, Span span);

// Reports a problem in an instance at a call that leads there.
void report_at_call(InstanceId call, InstanceId inner, const Problem&, const Draft&, const Program&, const States&,
                    Diagnostics&);

}  // namespace rml::draft
