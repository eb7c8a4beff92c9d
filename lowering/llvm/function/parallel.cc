// Loops in several threads. The body becomes a function over a range of rounds, which rml_parallel calls.
//
//   for i in 0 … n - 1: y[i] = f(x[i])
//
//   piece(context, begin, end, worker):  for i in begin … end - 1: context.y[i] = f(context.x[i])
//   rml_parallel(piece, {x, y}, n, grain, threads)
//
// The results equal those of one thread, to the bit: one thread does a whole round, in the same way on every thread,
// and no round touches memory that another one writes. Rounds that write to the same place, as sums do, are not
// separated. Buffers that a round needs for itself exist once for every thread.
#include "lowering/llvm/function/parallel.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "lowering/llvm/function/close_over.h"

namespace rml::codegen {

namespace {

IrValue grain(Function& f, double nanoseconds) {
  const double rounds = std::ceil(f.module.target.costs.work_of_thread / std::max(nanoseconds, 1e-3));
  return f.ir.getInt64(static_cast<std::uint64_t>(std::clamp(rounds, 1.0, 1e15)));
}

}  // namespace

bool splits(const Function& f, std::int64_t count, double nanoseconds) {
  const Target& target = f.module.target;
  return target.threads > 1 && f.frame.worker == nullptr && count > 1 &&
         static_cast<double>(count) * nanoseconds >= 2 * target.costs.work_of_thread;
}

void parallel(Function& f, std::int64_t count, double nanoseconds, const std::function<void(const Rounds&)>& body) {
  if (!splits(f, count, nanoseconds)) return body({});
  parallel(f, f.constant(count), grain(f, nanoseconds), body);
}

void parallel(Function& f, IrValue count, IrValue grain, const std::function<void(const Rounds&)>& body) {
  auto& ir = f.ir;
  if (f.frame.worker != nullptr) throw std::logic_error("code generation: a parallel loop in a parallel loop");
  auto* nothing = ir.getVoidTy();
  auto* piece = f.module.function(f.frame.function->getName() + ".piece", nothing,
                                  {f.module.pointer(), f.module.i64(), f.module.i64(), f.module.i32()}, false);
  auto* entry = llvm::BasicBlock::Create(f.module.context, "entry", piece);
  auto* begin = llvm::BasicBlock::Create(f.module.context, "begin", piece);
  {
    llvm::IRBuilder<>::InsertPointGuard guard(ir);
    const Function::Frame outer = f.frame;
    Function::Whole whole = f.whole;
    f.frame.function = f.whole.function = piece;
    f.frame.stack_used = 0;
    f.frame.subprogram = f.module.debug.begin(*piece, f.title + " (piece)", f.here);
    f.whole.state = f.state;
    f.locate(f.here);
    ir.SetInsertPoint(entry);
    ir.CreateBr(begin);
    ir.SetInsertPoint(begin);
    const auto index = [&](unsigned k) { return ir.CreateIntCast(piece->getArg(k), f.module.index_type(), false); };
    f.frame.worker = index(3);
    body({index(1), index(2)});
    ir.CreateRetVoid();
    f.frame = outer;
    f.whole = std::move(whole);
  }
  IrValue context = close_over(*piece, ir);
  auto callee = f.module.module.getOrInsertFunction(
      "rml_parallel",
      llvm::FunctionType::get(
          nothing, {f.module.pointer(), f.module.pointer(), f.module.i64(), f.module.i64(), f.module.i32()}, false));
  if (auto* external = llvm::dyn_cast<llvm::Function>(callee.getCallee())) external->setDoesNotThrow();
  ir.CreateCall(callee, {piece, context, ir.CreateIntCast(count, f.module.i64(), true), grain,
                         ir.getInt32(f.module.target.threads)});
}

}  // namespace rml::codegen
