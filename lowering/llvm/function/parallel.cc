// Loops in several threads: their body as a function over some of the rounds, which rml_parallel calls.
//
//   for i in 0 … n - 1: y[i] = f(x[i])
//
//   piece(context, begin, end, worker):  for i in begin … end - 1: context.y[i] = f(context.x[i])
//   rml_parallel(piece, {x, y}, n, grain, threads)
//
// A round is done by one thread, in the same way whichever it is and whatever else it does, and what one round
// writes no other one touches: the results are those of one thread, to the bit. Rounds that write to the same
// place, as sums do, stay together. Buffers that a round needs for itself are there once for every thread.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "lowering/llvm/function/close_over.h"
#include "lowering/llvm/function/function.h"

namespace rml::codegen {

namespace {

// Nanoseconds of an operation on one element, alone or as one lane of a vector.
double cost_of(const Costs& costs, const OperatorInfo& op, DType dtype, double lanes) {
  switch (op.effort) {
    case Effort::instruction:
    case Effort::simple:
      return costs.simple / lanes;
    case Effort::division:
      return is_float(dtype) ? costs.division / lanes : costs.integer_division;
    case Effort::remainder:
      return costs.integer_division;
    case Effort::root:
      return costs.root / lanes;
    case Effort::elementary:
    case Effort::circular:
      return costs.elementary / lanes;
    case Effort::power:
      return costs.power / lanes;
    case Effort::call:
      return costs.call;
  }
  throw std::logic_error("code generation: an operation of unknown cost");
}

// Whether LLVM, where it may reorder (--fast-math), may unroll the loops inside of a sum, or the sum itself, as a
// whole, and then add up in an order that hangs on what it knows of the rounds of `axis`: of those of a piece it knows
// nothing.
bool order_hangs_on(std::size_t axis, const Shape& extents, const Strides& written, std::int64_t unrolled_by_llvm) {
  for (std::size_t summed = 0; summed < extents.size(); ++summed) {
    if (written[summed] != 0) continue;
    std::int64_t inside = 1;
    for (std::size_t k = std::min(summed, axis) + 1; k < extents.size(); ++k) inside *= extents[k];
    if (inside < unrolled_by_llvm) return true;
  }
  return false;
}

}  // namespace

// Of one element of a loop; nothing where an operation can fail: which one does first is seen.
Body::Work Body::work(const Expression& e, std::size_t written) const {
  double sum = 0;
  for (const Expression::Node& node : e.nodes) {
    const DType dtype = info(node.value).dtype;
    if (node.leaf != SIZE_MAX) {
      sum += module.target.costs.byte * static_cast<double>(byte_size(dtype));
      continue;
    }
    if (can_fail(module.core, node.value)) return {};
    const OperatorInfo& op = operators()[std::get<core::Apply>(info(node.value).rhs).op];
    sum += cost_of(module.target.costs, op, dtype, static_cast<double>(lanes(dtype)));
  }
  // Whole vectors; one by one where all is split whatever it is worth. Loops that LLVM may unroll as a whole, and then
  // add up in another order, are not split.
  const Target& target = module.target;
  const double never_unrolled = module.numeric.fast ? target.nest_unrolled_by_llvm : 0;
  return {written, sum, target.costs.work_of_thread > 0 ? target.elements_together : 1, never_unrolled};
}

// The axis of a walk that is shared out: each of its rounds writes to places of its own. SIZE_MAX: none is worth it.
std::size_t Body::split_axis(const Shape& extents, const std::vector<Strides>& views, const Work& work) const {
  double count = 1;
  for (const std::int64_t extent : extents) count *= static_cast<double>(extent);
  if (count < work.least || work.written == 0) return SIZE_MAX;
  const auto written = std::span(views).first(work.written);
  const double all = work.nanoseconds * count;
  const std::int64_t enough = module.target.pieces_of_thread * std::int64_t{module.target.threads};
  std::size_t best = SIZE_MAX;
  std::int64_t most = 1;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (std::ranges::any_of(written, [&](const Strides& view) { return view[axis] == 0; })) continue;
    const auto hangs = [&](const Strides& view) {
      return order_hangs_on(axis, extents, view, module.target.unrolled_by_llvm);
    };
    if (module.numeric.fast && std::ranges::any_of(written, hangs)) continue;
    const bool innermost = axis + 1 == extents.size();
    const std::int64_t rounds = innermost ? extents[axis] / work.together : extents[axis];
    if (std::min(rounds, enough) <= most || !splits(rounds, all / static_cast<double>(rounds))) continue;
    best = axis, most = std::min(rounds, enough);
  }
  return best;
}

bool Body::splits(std::int64_t count, double nanoseconds) const {
  const Target& target = module.target;
  return target.threads > 1 && worker_ == nullptr && count > 1 &&
         static_cast<double>(count) * nanoseconds >= 2 * target.costs.work_of_thread;
}

IrValue Body::grain(double nanoseconds) {
  const double rounds = std::ceil(module.target.costs.work_of_thread / std::max(nanoseconds, 1e-3));
  return ir.getInt64(static_cast<std::uint64_t>(std::clamp(rounds, 1.0, 1e15)));
}

void Body::parallel(std::int64_t count, double nanoseconds, const std::function<void(const Rounds&)>& body) {
  if (!splits(count, nanoseconds)) return body({});
  parallel(constant(count), grain(nanoseconds), body);
}

void Body::parallel(IrValue count, IrValue grain, const std::function<void(const Rounds&)>& body) {
  if (worker_ != nullptr) throw std::logic_error("code generation: a parallel loop in a parallel loop");
  auto* nothing = ir.getVoidTy();
  auto* piece = module.function(function_->getName() + ".piece", nothing,
                                {module.pointer(), module.i64(), module.i64(), module.i32()}, false);
  auto* entry = llvm::BasicBlock::Create(module.context, "entry", piece);
  auto* begin = llvm::BasicBlock::Create(module.context, "begin", piece);
  {
    llvm::IRBuilder<>::InsertPointGuard guard(ir);
    auto* outer_function = std::exchange(function_, piece);
    const Whole outer_whole = std::exchange(whole_, {piece, state});
    const auto outer_slots = slots_;
    const auto outer_homes = homes_;
    const std::uint64_t outer_stack = std::exchange(stack_used_, 0);
    auto* outer_subprogram = std::exchange(subprogram_, module.debug.begin(*piece, title_ + " (piece)", here_));
    locate(here_);
    ir.SetInsertPoint(entry);
    ir.CreateBr(begin);
    ir.SetInsertPoint(begin);
    const auto index = [&](unsigned k) { return ir.CreateIntCast(piece->getArg(k), module.index_type(), false); };
    worker_ = index(3);
    body({index(1), index(2)});
    ir.CreateRetVoid();
    worker_ = nullptr;
    function_ = outer_function, whole_ = outer_whole, subprogram_ = outer_subprogram, stack_used_ = outer_stack;
    slots_ = outer_slots, homes_ = outer_homes;
  }
  IrValue context = close_over(*piece, ir);
  auto callee = module.module.getOrInsertFunction(
      "rml_parallel",
      llvm::FunctionType::get(nothing, {module.pointer(), module.pointer(), module.i64(), module.i64(), module.i32()},
                              false));
  if (auto* f = llvm::dyn_cast<llvm::Function>(callee.getCallee())) f->setDoesNotThrow();
  ir.CreateCall(
      callee, {piece, context, ir.CreateIntCast(count, module.i64(), true), grain, ir.getInt32(module.target.threads)});
}

// Tiles of C are shared out: panels of columns, each packed by whoever computes it; or, where these are too few, rows,
// for which each thread packs all panels.
void Body::share_out(const Product& p, const std::function<void(const Product&)>& part) {
  const Target& target = module.target;
  const double each = nanoseconds_of_product(p.dtype);
  const std::int64_t width = 2 * lanes(p.dtype), height = std::min(target.tile_rows(p.dtype), p.m);
  const std::int64_t panels = (p.n + width - 1) / width;
  const std::int64_t tiles = p.all_m != nullptr ? INT64_MAX / 4 : (p.m + height - 1) / height;
  const bool known = p.all_m == nullptr && p.all_inner == nullptr;
  const double all = static_cast<double>(p.m) * static_cast<double>(p.inner) * static_cast<double>(p.n) * each;
  if (target.threads < 2 || worker_ != nullptr || (known && all < 2 * target.costs.work_of_thread)) return part(p);
  // How much of the threads' time is work, if all tiles take the same.
  const auto use = [&](std::int64_t rounds) {
    const auto longest = static_cast<double>((rounds + target.threads - 1) / target.threads);
    return static_cast<double>(rounds) / (longest * target.threads);
  };
  const bool by_rows = use(tiles) * target.costs.uneven_rows > use(panels);
  if ((by_rows ? tiles : panels) < 2) return part(p);
  IrValue rows = p.all_m != nullptr ? p.all_m : constant(p.m);
  IrValue inner = p.all_inner != nullptr ? p.all_inner : constant(p.inner);
  IrValue count = constant(panels);
  if (by_rows) count = ir.CreateUDiv(ir.CreateAdd(rows, constant(height - 1), "", true, true), constant(height));
  // The work of a round, in products.
  IrValue work =
      by_rows ? ir.CreateMul(inner, constant(height * p.n)) : ir.CreateMul(ir.CreateMul(inner, rows), constant(width));
  const auto enough = static_cast<std::int64_t>(target.costs.work_of_thread / each);
  IrValue grain = ir.CreateUDiv(constant(enough), ir.CreateBinaryIntrinsic(llvm::Intrinsic::umax, work, constant(1)));
  grain = ir.CreateIntCast(ir.CreateAdd(grain, constant(1)), module.i64(), false);
  parallel(count, grain, [&](const Rounds& rounds) {
    Product some = p;
    (by_rows ? some.row_tiles : some.panels) = rounds;
    part(some);
  });
}

// What a register holds is computed twice a cycle; without fused operations half as often.
double Body::nanoseconds_of_product(DType dtype) const {
  const Costs& costs = module.target.costs;
  return (module.numeric.fused ? costs.fused_product : costs.product) / static_cast<double>(lanes(dtype));
}

double Body::nanoseconds_of_sum(const Product& p, std::int64_t sums) const {
  const double read = module.target.costs.byte * static_cast<double>(byte_size(p.dtype));
  return static_cast<double>(p.inner) * std::max(read, static_cast<double>(sums) * nanoseconds_of_product(p.dtype));
}

void Body::loop(const Rounds& rounds, IrValue extent, const std::function<void(IrValue)>& body) {
  if (rounds.begin == nullptr) return loop(extent, body);
  IrValue end = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, rounds.end, extent);
  loop(ir.CreateSub(end, rounds.begin, "", false, true),
       [&](IrValue i) { body(ir.CreateAdd(rounds.begin, i, "", true, true)); });
}

}  // namespace rml::codegen
