// Reductions over rows, a strip of columns at a time, so that the sums of the columns stay in registers.
#pragma once

#include <vector>

#include "lowering/llvm/elements/sums.h"

namespace rml::codegen {

struct Strips {
  std::size_t kept = 0;    // number of axes before the reduced ones
  std::int64_t width = 0;  // columns of each strip; 0: the reduction does not use strips
};
// Decides whether a loop over this shape is computed in strips. `views` are the views of its members.
Strips find_strips(const Function&, const std::vector<ValueId>& members, const Shape&,
                   const std::vector<Strides>& views);
// Emits the loops of one strip after another: body(places of the members, offsets of the views) for every element.
void in_strips(Function&, Strips, const std::vector<ValueId>& members, const Shape&, const std::vector<Strides>& views,
               const std::vector<IrValue>& to, Work, const LoopBody&);

}  // namespace rml::codegen
