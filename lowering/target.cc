// Translates the user's options for passes and code generation.
#include "lowering/target.h"

#include "lowering/microcontroller.h"

namespace rml {

bool is_microcontroller(const std::string& triple) {
  const bool small = triple.starts_with("arm") || triple.starts_with("thumb") || triple.starts_with("riscv32");
  return small && !triple.starts_with("arm64") && triple.find("linux") == std::string::npos;
}

Target target_for(const TargetOptions& options) {
  Target target;
  target.threads = options.threads;
  target.part = options.part;
  target.large_step = options.large_step;
  target.costs.work_of_thread = options.work_of_thread;
  const bool some = options.optimization > 0 && options.optimization < 3;
  target.size_first = some && (options.small || is_microcontroller(options.triple));
  if (target.size_first) target.unrolled_elements = 4;
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
