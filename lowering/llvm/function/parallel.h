// Loops in several threads.
#pragma once

#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Whether so many rounds, of so many nanoseconds each, are worth several threads.
bool splits(const Function&, std::int64_t count, double nanoseconds);
// Calls body for the rounds 0 … count - 1, which are independent, in pieces, each done by some thread. What body
// writes is a function of its own: nothing in it can fail, and values defined in it are not seen behind it.
void parallel(Function&, std::int64_t count, double nanoseconds, const std::function<void(const Rounds&)>& body);
// The same of `grain` rounds at least for each thread.
void parallel(Function&, IrValue count, IrValue grain, const std::function<void(const Rounds&)>& body);

}  // namespace rml::codegen
