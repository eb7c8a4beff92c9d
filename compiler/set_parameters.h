// What the command line says of the parameters of a program.
//
// A frozen one (--freeze) stays what it is at the beginning: its update is taken out of the core, and simplify takes
// out the gradient that is never read any more. A given one (--load-params) begins as a file says: its initial value
// is a constant of the program, which a host may still replace. One whose gradients are gathered stays what it is as
// well, and beside it stands a parameter `d PATH`, the sum of the steps by which `diff` would have moved it; they are
// gradients where no optimiser makes others of them.
#pragma once

#include <string>
#include <vector>

#include "compiler/session.h"
#include "semantics/core/core.h"

namespace rml {

// Those whose path a pattern matches (runtime/base/pattern.h); reports E0201 where one matches none.
void freeze_parameters(Core&, const std::vector<std::string>& patterns, Diagnostics&);

// Of parameters that are not frozen already, as `d PATH` would match their patterns. Before causality is judged: what
// stands still does not depend on its steps. Those that nothing moves have no gradient. Reports E0201 as well.
void gather_gradients(Core&, const std::vector<std::string>& patterns, Diagnostics&);

// By session.options.parameters. The core is simplified: parameters without a use need not be in the file. Reports
// E0806, or says in session.told what was found. Whether there was something to do.
bool give_parameters(Session&, Core&, Diagnostics&);

}  // namespace rml
