// Loops over the elements of tensors. Code on tensors is written once, as a walk over a shape with a body per element.
// A walk is unrolled for small shapes and a loop nest otherwise, in several threads if that is worthwhile.
#pragma once

#include <functional>
#include <vector>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Called once per element, in row-major order, with its offset in each of the strided views.
using Visit = std::function<void(const std::vector<IrValue>&)>;

// The loops of a walk. Axes along which all views advance evenly are merged.
struct Nest {
  Shape extents;
  std::vector<Strides> strides;  // strides of each view
};
Nest nest(const Shape&, const std::vector<Strides>& views);

// The work of a walk that writes its first views.
struct Work {
  std::size_t written = 0;
  double nanoseconds = 0;     // cost of one call
  std::int64_t together = 1;  // number of neighbouring calls along the last axis that one thread makes
  double least = 0;           // with fewer calls the walk is not shared
};

void walk(Function&, const Shape&, const std::vector<Strides>& views, bool unrolled, const Visit&);
void walk(Function&, const Shape&, const std::vector<Strides>& views, bool unrolled, Work, const Visit&);
void walk(Function&, const Nest&, bool unrolled, Work, const Visit&);

}  // namespace rml::codegen
