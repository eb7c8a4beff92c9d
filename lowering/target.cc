// What the user asks for, as passes and code generation look at it.
#include "lowering/target.h"

namespace rml {

Target target_for(const TargetOptions& options) {
  Target target;
  target.threads = options.threads;
  target.part = options.part;
  target.large_step = options.large_step;
  target.costs.work_of_thread = options.work_of_thread;
  return target;
}

Numeric numeric_for(const TargetOptions& options) {
  Numeric numeric;
  numeric.strict = options.strict_math;
  numeric.fast = options.fast_math;
  numeric.calls_libm = options.strict_math || options.optimization == 0;
  return numeric;
}

}  // namespace rml
