// Options about the parameters of a program.
//
// - A frozen parameter (--freeze) keeps its initial value. Its update is removed from the core,
//   and simplify removes the gradient, which then has no use.
// - A given parameter (--load-params) gets its initial value from a file. The value becomes a
//   constant of the program, which a host may still replace.
// - A parameter with a gathered gradient keeps its initial value too. A new parameter `d PATH`
//   sums the steps by which `diff` would have changed it. If no optimiser transforms them, these
//   steps are gradients.
#pragma once

#include <string>
#include <vector>

#include "compiler/session.h"
#include "semantics/core/core.h"

namespace rml {

// Freezes the parameters whose paths match a pattern (runtime/base/pattern.h). Reports E0201 if a
// pattern matches none.
Core freeze_parameters(Core, const std::vector<std::string>& patterns, Diagnostics&);

// Gathers the gradients of the parameters whose paths match a pattern; a parameter without an
// update has none. Reports E0201 as well. Call it after freeze_parameters, whose patterns would
// match `d PATH`, and before causality is checked, since a constant parameter does not depend on
// its steps.
Core gather_gradients(Core, const std::vector<std::string>& patterns, Diagnostics&);

// Makes the first value of each parameter a constant of its memory if it is known, so that a caller
// can set the parameter before the first cycle. Otherwise the first cycle would compute its value.
// After simplification, which would replace such a memory by the constant.
Core begin_with_constants(Core);

// Reads session.options.parameters into a simplified core; a parameter without a use need not be
// in the file. Reports E0806 on failure, or lists the loaded parameters in session.told. A session
// that names no file leaves the core unchanged.
Core give_parameters(Core, Session&, Diagnostics&);

}  // namespace rml
