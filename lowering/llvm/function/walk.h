// Loops over the elements of tensors: code on tensors is written once, as a walk over a shape with a body per element,
// which is unrolled for small shapes and a loop nest otherwise, in several threads if that is worth it.
#pragma once

#include <functional>
#include <vector>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// One call per element, in row-major order, with its offset in each of the strided views.
using Visit = std::function<void(const std::vector<IrValue>&)>;

// The loops of a walk: axes along which all views advance evenly are one.
struct Nest {
  Shape extents;
  std::vector<Strides> strides;  // by view
};
Nest nest(const Shape&, const std::vector<Strides>& views);

// Of a walk whose first views are written.
struct Work {
  std::size_t written = 0;
  double nanoseconds = 0;     // of one call
  std::int64_t together = 1;  // calls along the last axis that one thread does
  double least = 0;           // calls
};

void walk(Function&, const Shape&, const std::vector<Strides>& views, bool unrolled, const Visit&);
void walk(Function&, const Shape&, const std::vector<Strides>& views, bool unrolled, Work, const Visit&);
void walk(Function&, const Nest&, bool unrolled, Work, const Visit&);

}  // namespace rml::codegen
