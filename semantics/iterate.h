// Iterations, by definition: the body is run once for each element (see core.h).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "semantics/interpret.h"

namespace rml {

// Fills `outputs`, which have their types and shapes already; or the first fault.
std::optional<RunFault> iterate(const Iteration&, std::span<const Tensor* const> operands, std::span<Tensor> outputs);

}  // namespace rml
