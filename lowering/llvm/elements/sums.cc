// Sums and products of floats in lanes, and extrema of many: an order that vectors follow, and that nothing else
// decides.
//
// The elements that go into one result form runs: neighbours along the last axes, all of which are reduced. A run is
// spread over as many sums, lanes, as fit in 128 bytes, or fewer, so that few elements are left over. The lanes
// are folded in halves, then comes the sum of the rest, and what runs give is added in row-major order:
//
//   s[l] = x[l] + x[l + lanes] + x[l + 2 lanes] + ...      folded: s[l] += s[l + lanes / 2], and so on;  s[0] + rest
//
// Extrema are the same in any order, but for the sign of a zero and which NaN it is.
//
// So the result depends on shapes alone: not on which other loops it shares, on the machine's vectors, the level of
// optimisation or the number of threads. A loop whose innermost axis is the run computes the lanes in a loop of
// their own, which LLVM turns into vectors as it stands. Where something else in the loop divides the run, its elements
// are stored first.
#include "lowering/llvm/elements/sums.h"

#include <algorithm>
#include <utility>

#include "lowering/llvm/elements/reduction.h"
#include "lowering/llvm/function/vectors.h"

namespace rml::codegen {

namespace {

// The shortest run that goes in lanes; 0: none does.
std::int64_t least_run(Lowering l, const Numeric& numeric) {
  if (l == Lowering::reduce_min || l == Lowering::reduce_max) return numeric.fewest_extrema;
  const bool adds = l == Lowering::reduce_sum || l == Lowering::reduce_mean || l == Lowering::reduce_prod;
  return adds ? numeric.fewest_lanes : 0;
}

// The product of the last extents along which the view stands still.
std::int64_t run_of(const Shape& shape, const Strides& view) {
  std::int64_t run = 1;
  for (std::size_t axis = shape.size(); axis-- > 0 && (view[axis] == 0 || shape[axis] == 1);) run *= shape[axis];
  return run;
}

// The most, a power of two, that leave over a quarter of the run at most.
std::int64_t lanes_of(std::int64_t run, DType dtype, const Numeric& numeric) {
  std::int64_t lanes = numeric.sum_bytes / static_cast<std::int64_t>(byte_size(dtype));
  while (lanes > numeric.fewest_lanes && (lanes > run || run % lanes > run / 4)) lanes /= 2;
  return lanes;
}

}  // namespace

// Of the members of a loop.
std::vector<Sum> sums_in_lanes(const Function& f, const std::vector<ValueId>& members) {
  std::vector<Sum> sums;
  for (std::size_t k = 0; k < members.size(); ++k) {
    const Value& v = f.info(members[k]);
    const auto& apply = std::get<core::Apply>(v.rhs);
    if (f.module.numeric.strict || (v.dtype != DType::f32 && v.dtype != DType::f64) ||
        !is_reduction(operators()[apply.op].lowering))
      continue;
    const std::int64_t least = least_run(reduction_of(v), f.module.numeric),
                       run = run_of(f.info(apply.operands[0]).shape, reduced_view(f, members[k]));
    if (least > 0 && run >= least)
      sums.push_back({members[k], k, run, lanes_of(run, v.dtype, f.module.numeric)});  // otherwise in order
  }
  return sums;
}

// Takes those out whose runs are not the innermost loop: their elements are stored in its place.
std::vector<Sum> store_sums(Function& f, std::vector<Sum>& sums, const Shape& shape, std::vector<Strides>& views,
                            std::vector<IrValue>& to) {
  std::vector<Sum> kept, stored;
  if (sums.empty()) return stored;
  const std::int64_t innermost = nest(shape, views).extents.back();
  for (const Sum& s : sums) {
    const bool stays = s.run == innermost && (kept.empty() || f.info(kept[0].value).dtype == f.info(s.value).dtype);
    (stays ? kept : stored).push_back(s);
  }
  for (const Sum& s : stored) {
    to[s.member] = f.scratch(f.info(s.value).dtype, shape, "elements");
    views[s.member] = dense_strides(shape);
  }
  sums = std::move(kept);
  return stored;
}

namespace {

// The parts, scalars or vectors, are the lanes in order.
IrValue folded(Function& f, ValueId v, std::vector<IrValue> parts) {
  auto& ir = f.ir;
  const DType dtype = f.info(v).dtype;
  const Lowering lowering = reduction_of(f.info(v));
  for (; parts.size() > 1; parts.resize(parts.size() / 2))
    for (std::size_t k = 0; k < parts.size() / 2; ++k)
      parts[k] = combined(f, lowering, dtype, parts[k], parts[k + parts.size() / 2]);
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(parts[0]->getType());
  if (type == nullptr) return parts[0];
  IrValue all = parts[0];
  for (auto half = static_cast<int>(type->getNumElements() / 2); half > 0; half /= 2) {
    std::vector<int> low, high;
    for (int lane = 0; lane < half; ++lane) low.push_back(lane), high.push_back(half + lane);
    all = combined(f, lowering, dtype, ir.CreateShuffleVector(all, low), ir.CreateShuffleVector(all, high));
  }
  return ir.CreateExtractElement(all, std::uint64_t{0});
}

// A loop for vectors: of as many elements as lanes, apart from each other.
void lane_loop(Function& f, std::int64_t count, DType dtype, const std::function<void(IrValue)>& body) {
  auto& ir = f.ir;
  const auto property = [&](const char* name, std::int64_t value) {
    auto* number = llvm::ConstantInt::get(ir.getInt32Ty(), static_cast<std::uint64_t>(value));
    return llvm::MDNode::get(f.module.context,
                             {llvm::MDString::get(f.module.context, name), llvm::ConstantAsMetadata::get(number)});
  };
  f.loop(count, [&](IrValue lane) {
    body(lane);
    const std::int64_t width = std::min(f.lanes(dtype), count);
    if (width < 2) return;
    f.about_loop = {
        llvm::MDNode::get(f.module.context, {llvm::MDString::get(f.module.context, "llvm.loop.unroll.disable")}),
        property("llvm.loop.vectorize.width", width), property("llvm.loop.interleave.count", count / width)};
  });
}

}  // namespace

void combine_written_out(Function& f, Sum& sum, std::int64_t element, IrValue value, IrValue place) {
  const DType dtype = f.info(sum.value).dtype;
  const Lowering lowering = reduction_of(f.info(sum.value));
  const std::int64_t at = element % sum.run, rest = sum.run / sum.lanes * sum.lanes;
  const auto part = static_cast<std::size_t>(at < rest ? at % sum.lanes : sum.lanes);
  if (part == sum.parts.size())
    sum.parts.push_back(value);
  else
    sum.parts[part] = combined(f, lowering, dtype, sum.parts[part], value);
  if (at + 1 < sum.run) return;
  IrValue last = rest < sum.run ? sum.parts.back() : nullptr;
  if (last != nullptr) sum.parts.pop_back();
  IrValue whole = folded(f, sum.value, std::exchange(sum.parts, {}));
  if (last != nullptr) whole = combined(f, lowering, dtype, whole, last);
  f.store(dtype, combined(f, lowering, dtype, f.load(dtype, place), whole), place);
}

void in_rows(Function& f, const Nest& all, const std::vector<Sum>& sums, const std::vector<IrValue>& to, Work each,
             const LoopBody& body) {
  auto& ir = f.ir;
  Nest outer = all;
  const std::int64_t run = outer.extents.back(), count = sums[0].lanes;
  outer.extents.pop_back();
  std::vector<std::int64_t> along;
  for (Strides& strides : outer.strides) along.push_back(strides.back()), strides.pop_back();
  const DType dtype = f.info(sums[0].value).dtype;
  const std::int64_t width = std::min(f.lanes(dtype), count);
  const auto lanes_at = [&](IrValue places, std::int64_t lane) { return f.offset(dtype, places, f.constant(lane)); };
  const llvm::Align align(byte_size(dtype));
  auto* scalar = memory_type(f.module.context, dtype);
  auto* piece = width == 1 ? scalar : llvm::FixedVectorType::get(scalar, static_cast<unsigned>(width));

  const auto calls = static_cast<double>(run);
  walk(f, outer, false, {each.written, each.nanoseconds * calls, 1, each.least / calls},
       [&](const std::vector<IrValue>& begin) {
         std::vector<IrValue> places = to, rest_places = to;
         for (const Sum& s : sums) {
           const Lowering lowering = reduction_of(f.info(s.value));
           IrValue lanes = f.variable(llvm::ArrayType::get(scalar, static_cast<std::uint64_t>(count)), "lanes");
           for (std::int64_t lane = 0; lane < count; lane += width)
             ir.CreateAlignedStore(neutral(lowering, dtype, piece), lanes_at(lanes, lane), align);
           IrValue rest = f.variable(scalar, "rest");
           ir.CreateStore(neutral(lowering, dtype, scalar), rest);
           places[s.member] = lanes, rest_places[s.member] = rest;
         }
         const auto visit = [&](const std::vector<IrValue>& at, IrValue i, IrValue lane) {
           std::vector<IrValue> offsets = begin;
           for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] = strided(f, begin[k], i, along[k]);
           for (const Sum& s : sums) offsets[s.member] = lane;
           body(at, offsets);
         };
         f.loop(run / count, [&](IrValue block) {
           IrValue first = strided(f, f.constant(0), block, count);
           lane_loop(f, count, dtype, [&](IrValue lane) { visit(places, strided(f, first, lane, 1), lane); });
         });
         IrValue first = f.constant(run / count * count);
         f.loop(run % count, [&](IrValue i) { visit(rest_places, strided(f, first, i, 1), f.constant(0)); });
         for (const Sum& s : sums) {
           std::vector<IrValue> parts;
           for (std::int64_t lane = 0; lane < count; lane += width)
             parts.push_back(ir.CreateAlignedLoad(piece, lanes_at(places[s.member], lane), align));
           IrValue whole = folded(f, s.value, std::move(parts));
           if (run % count > 0)
             whole = combined(f, reduction_of(f.info(s.value)), dtype, whole, f.load(dtype, rest_places[s.member]));
           combine(f, s.value, whole, f.offset(dtype, to[s.member], begin[s.member]), {});
         }
       });
}

void stored_rows(Function& f, const Sum& sum, const Shape& shape, IrValue elements, IrValue result, Work each) {
  const DType dtype = f.info(sum.value).dtype;
  Sum alone = sum;
  alone.member = 0;
  if (each.written > 0) each.written = 1;
  in_rows(f, nest(shape, {reduced_view(f, sum.value), dense_strides(shape)}), {alone}, {result, elements}, each,
          [&](const std::vector<IrValue>& places, const std::vector<IrValue>& offsets) {
            IrValue element = f.load(dtype, f.offset(dtype, places[1], offsets[1]));
            combine(f, sum.value, element, f.offset(dtype, places[0], offsets[0]), {});
          });
}

}  // namespace rml::codegen
