// Computes sums and products of floats, and extrema of many numbers, in lanes. The order of combination suits vectors
// and depends on shapes alone.
//
// The elements of one result form runs: neighbours along the last axes, all of which are reduced. A run is spread over
// as many lanes as fit in 128 bytes, or fewer, so that few elements are left over. The lanes are folded in halves; then
// the sum of the left-over elements is added. The results of runs are added in row-major order:
//
//   s[l] = x[l] + x[l + lanes] + x[l + 2 lanes] + ...      folded: s[l] += s[l + lanes / 2], and so on;  s[0] + rest
//
// Extrema do not depend on the order, except for the sign of a zero and the choice among NaNs. Their left-over elements
// also go into the first lanes, 16, 8 or 4 elements at a time; at most the last three are combined after the lanes. If
// the loop computes sums as well, whose left-over elements are in order, this part is not a vector loop.
//
// So the result does not depend on which other loops it shares, on the machine's vectors, on the level of optimisation
// or on the number of threads. A loop whose innermost axis is the run computes the lanes in a loop of their own, which
// LLVM vectorises directly. If another operation in the loop divides the run, its elements are stored first.
#include "lowering/llvm/elements/sums.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "lowering/llvm/elements/reduction.h"
#include "lowering/llvm/function/vectors.h"

namespace rml::codegen {

namespace {

bool is_extremum(Lowering l) { return l == Lowering::reduce_min || l == Lowering::reduce_max; }

// The length of the shortest run that is computed in lanes; 0: no run is.
std::int64_t least_run(Lowering l, const Numeric& numeric) {
  if (is_extremum(l)) return numeric.fewest_extrema;
  const bool adds = l == Lowering::reduce_sum || l == Lowering::reduce_mean || l == Lowering::reduce_prod;
  return adds ? numeric.fewest_lanes : 0;
}

// The product of the last extents along which the view has stride 0.
std::int64_t run_of(const Shape& shape, const Strides& view) {
  std::int64_t run = 1;
  for (std::size_t axis = shape.size(); axis-- > 0 && (view[axis] == 0 || shape[axis] == 1);) run *= shape[axis];
  return run;
}

// The greatest power of two that leaves at most a quarter of the run over.
std::int64_t lanes_of(std::int64_t run, DType dtype, const Numeric& numeric) {
  std::int64_t lanes = numeric.sum_bytes / static_cast<std::int64_t>(byte_size(dtype));
  while (lanes > numeric.fewest_lanes && (lanes > run || run % lanes > run / 4)) lanes /= 2;
  return lanes;
}

}  // namespace

// The members of a loop that are computed in lanes.
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
    // Shorter runs are combined element by element, in order.
    if (least > 0 && run >= least) sums.push_back({members[k], k, run, lanes_of(run, v.dtype, f.module.numeric)});
  }
  return sums;
}

// Removes and returns the sums whose runs are not the innermost loop. Their elements are stored in place of the result.
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

using Combine = std::function<IrValue(IrValue a, IrValue b)>;

// Combines the parts, scalars or vectors, which are consecutive lanes.
IrValue folded(Function& f, std::vector<IrValue> parts, const Combine& combine) {
  auto& ir = f.ir;
  for (; parts.size() > 1; parts.resize(parts.size() / 2))
    for (std::size_t k = 0; k < parts.size() / 2; ++k) parts[k] = combine(parts[k], parts[k + parts.size() / 2]);
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(parts[0]->getType());
  if (type == nullptr) return parts[0];
  IrValue all = parts[0];
  for (auto half = static_cast<int>(type->getNumElements() / 2); half > 0; half /= 2) {
    std::vector<int> low, high;
    for (int lane = 0; lane < half; ++lane) low.push_back(lane), high.push_back(half + lane);
    all = combine(ir.CreateShuffleVector(all, low), ir.CreateShuffleVector(all, high));
  }
  return ir.CreateExtractElement(all, std::uint64_t{0});
}

IrValue folded(Function& f, ValueId v, std::vector<IrValue> parts) {
  return folded(f, std::move(parts),
                [&](IrValue a, IrValue b) { return combined(f, reduction_of(f.info(v)), f.info(v).dtype, a, b); });
}

// For numbers that are kept separate from NaN: combines the result so far with a further element.
IrValue better(Function& f, ValueId v, IrValue so_far, IrValue element) {
  const bool maximum = reduction_of(f.info(v)) == Lowering::reduce_max;
  IrValue wins = maximum ? f.ir.CreateFCmpOGT(element, so_far) : f.ir.CreateFCmpOLT(element, so_far);
  return f.ir.CreateSelect(wins, element, so_far);
}
IrValue first_none(Function& f, IrValue so_far, IrValue element) {
  return f.ir.CreateSelect(f.ir.CreateFCmpUNO(so_far, so_far), so_far, element);
}

// Splits the left-over elements, which go into the first lanes, into powers of two, the largest first.
std::vector<std::int64_t> parts_of_rest(std::int64_t rest, const Numeric& numeric) {
  std::vector<std::int64_t> parts;
  for (auto left = static_cast<std::uint64_t>(rest); left >= static_cast<std::uint64_t>(numeric.fewest_lanes);
       left -= std::bit_floor(left))
    parts.push_back(static_cast<std::int64_t>(std::bit_floor(left)));
  return parts;
}

// A loop that LLVM vectorises, over `count` lanes that are independent of each other.
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
    f.about_loop = {f.not_unrolled(), property("llvm.loop.vectorize.width", width),
                    property("llvm.loop.interleave.count", count / width)};
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

void combine_in_lanes(Function& f, const Sum& sum, IrValue element, IrValue place, IrValue lane) {
  if (sum.none == nullptr) return combine(f, sum.value, element, place, {});
  const DType dtype = f.info(sum.value).dtype;
  IrValue so_far = f.load(dtype, place), none_at = f.offset(dtype, sum.none, lane), none = f.load(dtype, none_at);
  f.store(dtype, better(f, sum.value, so_far, element), place);
  f.store(dtype, first_none(f, none, element), none_at);
}

namespace {

// One run of each of the sums. `to` and `begin` are those of the loop: addresses by member, and the offset of each run.
class Run {
 public:
  Run(Function& f, std::vector<Sum>& sums, std::int64_t run, const std::vector<IrValue>& to,
      const std::vector<IrValue>& begin)
      : f_(f),
        sums_(sums),
        run_(run),
        lanes_(sums[0].lanes),
        dtype_(f.info(sums[0].value).dtype),
        width_(std::min(f.lanes(dtype_), lanes_)),
        scalar_(memory_type(f.module.context, dtype_)),
        piece_(width_ == 1 ? scalar_ : llvm::FixedVectorType::get(scalar_, static_cast<unsigned>(width_))),
        to_(to),
        begin_(begin) {
    for (const Sum& s : sums_) {
      const Lowering lowering = reduction_of(f_.info(s.value));
      IrValue lanes = variable(lowering);
      IrValue rest = f_.variable(scalar_, "rest");
      f_.ir.CreateStore(neutral(lowering, dtype_, scalar_), rest);
      places_.push_back({lanes, none_apart(lowering) ? variable(lowering) : nullptr, rest});
    }
  }

  void elements(const std::vector<std::int64_t>& along, const LoopBody& body) {
    const auto visit = [&](IrValue first, IrValue i, bool block, bool extrema_in_lanes) {
      std::vector<IrValue> places = to_, offsets = begin_;
      IrValue element = strided(f_, first, i, 1);
      for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] = strided(f_, begin_[k], element, along[k]);
      for (std::size_t k = 0; k < sums_.size(); ++k) {
        const bool in_lanes = block || (extrema_in_lanes && is_extremum(reduction_of(f_.info(sums_[k].value))));
        places[sums_[k].member] = in_lanes ? places_[k].lanes : places_[k].rest;
        offsets[sums_[k].member] = in_lanes ? i : f_.constant(0);
        sums_[k].none = in_lanes ? places_[k].none : nullptr;
      }
      body(places, offsets);
    };
    f_.loop(run_ / lanes_, [&](IrValue block) {
      IrValue first = strided(f_, f_.constant(0), block, lanes_);
      lane_loop(f_, lanes_, dtype_, [&](IrValue lane) { visit(first, lane, true, true); });
    });
    const bool only_extrema =
        std::ranges::all_of(sums_, [&](const Sum& s) { return is_extremum(reduction_of(f_.info(s.value))); });
    std::int64_t done = run_ / lanes_ * lanes_;
    for (const std::int64_t part : parts_of_rest(run_ - done, f_.module.numeric)) {
      const auto one = [&](IrValue lane) { visit(f_.constant(done), lane, false, true); };
      only_extrema ? lane_loop(f_, part, dtype_, one) : f_.loop(part, one);
      done += part;
    }
    f_.loop(run_ - done, [&](IrValue i) { visit(f_.constant(done), i, false, false); });
    extrema_behind_ = run_ - done;
  }

  void results() {
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      const Sum& s = sums_[k];
      const Places& at = places_[k];
      const Lowering lowering = reduction_of(f_.info(s.value));
      IrValue whole = at.none == nullptr ? folded(f_, s.value, pieces(at.lanes)) : extremum_of(s, at);
      if ((is_extremum(lowering) ? extrema_behind_ : run_ % lanes_) > 0)
        whole = combined(f_, lowering, dtype_, whole, f_.load(dtype_, at.rest));
      combine(f_, s.value, whole, f_.offset(dtype_, to_[s.member], begin_[s.member]), {});
    }
  }

 private:
  struct Places {
    IrValue lanes, none, rest;  // `none` is explained at Sum
  };

  // True if registers hold both kinds of lanes. Then one instruction compares and selects the better number, and the
  // test for NaN does not delay it.
  bool none_apart(Lowering lowering) const {
    return is_extremum(lowering) && width_ > 1 && 2 * lanes_ / width_ <= f_.module.target.sums();
  }
  IrValue variable(Lowering lowering) const {
    IrValue lanes = f_.variable(llvm::ArrayType::get(scalar_, static_cast<std::uint64_t>(lanes_)), "lanes");
    for (std::int64_t lane = 0; lane < lanes_; lane += width_)
      f_.ir.CreateAlignedStore(neutral(lowering, dtype_, piece_), at(lanes, lane), align());
    return lanes;
  }
  IrValue extremum_of(const Sum& s, const Places& at) const {
    IrValue number = folded(f_, pieces(at.lanes), [&](IrValue a, IrValue b) { return better(f_, s.value, a, b); });
    IrValue none = folded(f_, pieces(at.none), [&](IrValue a, IrValue b) { return first_none(f_, a, b); });
    return first_none(f_, none, number);
  }
  std::vector<IrValue> pieces(IrValue lanes) const {
    std::vector<IrValue> found;
    for (std::int64_t lane = 0; lane < lanes_; lane += width_)
      found.push_back(f_.ir.CreateAlignedLoad(piece_, at(lanes, lane), align()));
    return found;
  }
  IrValue at(IrValue lanes, std::int64_t lane) const { return f_.offset(dtype_, lanes, f_.constant(lane)); }
  llvm::Align align() const { return llvm::Align(byte_size(dtype_)); }

  Function& f_;
  std::vector<Sum>& sums_;
  std::int64_t run_, lanes_;
  DType dtype_;
  std::int64_t width_;
  llvm::Type *scalar_, *piece_;
  const std::vector<IrValue>&to_, &begin_;
  std::vector<Places> places_;       // places of each sum's parts
  std::int64_t extrema_behind_ = 0;  // elements of an extremum that are combined after the lanes
};

}  // namespace

void in_rows(Function& f, const Nest& all, std::vector<Sum>& sums, const std::vector<IrValue>& to, Work each,
             const LoopBody& body) {
  Nest outer = all;
  const std::int64_t length = outer.extents.back();
  outer.extents.pop_back();
  std::vector<std::int64_t> along;
  for (Strides& strides : outer.strides) along.push_back(strides.back()), strides.pop_back();
  const auto calls = static_cast<double>(length);
  walk(f, outer, false, {each.written, each.nanoseconds * calls, 1, each.least / calls},
       [&](const std::vector<IrValue>& begin) {
         Run run(f, sums, length, to, begin);
         run.elements(along, body);
         run.results();
       });
}

void stored_rows(Function& f, const Sum& sum, const Shape& shape, IrValue elements, IrValue result, Work each) {
  const DType dtype = f.info(sum.value).dtype;
  std::vector<Sum> alone = {sum};
  alone[0].member = 0;
  if (each.written > 0) each.written = 1;
  in_rows(f, nest(shape, {reduced_view(f, sum.value), dense_strides(shape)}), alone, {result, elements}, each,
          [&](const std::vector<IrValue>& places, const std::vector<IrValue>& offsets) {
            IrValue element = f.load(dtype, f.offset(dtype, places[1], offsets[1]));
            combine_in_lanes(f, alone[0], element, f.offset(dtype, places[0], offsets[0]), offsets[0]);
          });
}

}  // namespace rml::codegen
