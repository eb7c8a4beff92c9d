// Emits loops that several threads run.
#pragma once

#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// True if `count` rounds of that duration are worth several threads.
bool splits(const Function&, std::int64_t count, double nanoseconds);
// Splits the independent rounds 0 … count - 1 into pieces, which threads run. `body` is emitted into a function of its
// own: no code in it can fail, and values defined in it are not visible afterwards.
void parallel(Function&, std::int64_t count, double nanoseconds, const std::function<void(const Rounds&)>& body);
// Splits `count` independent rounds into pieces of at least `grain` rounds, which threads run.
void parallel(Function&, IrValue count, IrValue grain, const std::function<void(const Rounds&)>& body);

}  // namespace rml::codegen
