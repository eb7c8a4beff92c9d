// Sums and products of floats, and extrema of many numbers, computed in vector lanes.
#pragma once

#include <functional>
#include <vector>

#include "lowering/llvm/function/walk.h"

namespace rml::codegen {

struct Sum {
  ValueId value;
  std::size_t member;       // index of the sum in the members of its loop
  std::int64_t run, lanes;  // elements of a run, and the number of lanes that the run is spread over
  std::vector<IrValue> parts = {};
  // For an extremum whose lanes hold numbers only, NaN excluded: a second element for each lane, which is the first NaN
  // of the lane, or else its last number.
  IrValue none = nullptr;
};
// The members of a loop whose elements are combined in lanes.
std::vector<Sum> sums_in_lanes(const Function&, const std::vector<ValueId>& members);

// Removes and returns the sums whose runs are not the innermost loop. Their elements are first stored, in place of the
// result.
std::vector<Sum> store_sums(Function&, std::vector<Sum>&, const Shape&, std::vector<Strides>& views,
                            std::vector<IrValue>& to);
// Combines element number `element` of an unrolled loop.
void combine_written_out(Function&, Sum&, std::int64_t element, IrValue value, IrValue place);

using LoopBody = std::function<void(const std::vector<IrValue>& places, const std::vector<IrValue>& offsets)>;
// A loop whose innermost axis is a run of each of the sums. `body` gets the lane as their offset, and calls
// combine_in_lanes.
void in_rows(Function&, const Nest&, std::vector<Sum>&, const std::vector<IrValue>& to, Work, const LoopBody&);
void combine_in_lanes(Function&, const Sum&, IrValue element, IrValue place, IrValue lane);
// Combines the elements of a sum that store_sums stored.
void stored_rows(Function&, const Sum&, const Shape&, IrValue elements, IrValue result, Work);

}  // namespace rml::codegen
