// Sums and products of floats in lanes, and extrema of many.
#pragma once

#include <functional>
#include <vector>

#include "lowering/llvm/function/walk.h"

namespace rml::codegen {

struct Sum {
  ValueId value;
  std::size_t member;       // of its loop
  std::int64_t run, lanes;  // elements of a run, and over how many sums they are spread
  std::vector<IrValue> parts = {};
  // Of an extremum while its elements go into lanes whose numbers are apart from NaN: a further element of each lane,
  // the first NaN that came there, or else the last number.
  IrValue none = nullptr;
};
// Of the members of a loop: those whose elements are combined in lanes.
std::vector<Sum> sums_in_lanes(const Function&, const std::vector<ValueId>& members);

// Takes those out whose runs are not the innermost loop: their elements are stored first, in the place of the result.
std::vector<Sum> store_sums(Function&, std::vector<Sum>&, const Shape&, std::vector<Strides>& views,
                            std::vector<IrValue>& to);
// Element number `element` of a loop that is written out.
void combine_written_out(Function&, Sum&, std::int64_t element, IrValue value, IrValue place);

using LoopBody = std::function<void(const std::vector<IrValue>& places, const std::vector<IrValue>& offsets)>;
// A loop whose innermost axis is a run of each of the sums. body gets the lane as their offset, and calls the second.
void in_rows(Function&, const Nest&, std::vector<Sum>&, const std::vector<IrValue>& to, Work, const LoopBody&);
void combine_in_lanes(Function&, const Sum&, IrValue element, IrValue place, IrValue lane);
// Of a sum whose elements have been stored.
void stored_rows(Function&, const Sum&, const Shape&, IrValue elements, IrValue result, Work);

}  // namespace rml::codegen
