// Loops over groups of states: a full group is stepped together; if that is refused, and in the last group, state by
// state.
#include "lowering/llvm/interface/each_group.h"

#include "lowering/llvm/interface/faults.h"

namespace rml::codegen {

IrValue count_groups(Function& f, IrValue n, std::uint64_t lanes) {
  return f.ir.CreateUDiv(f.ir.CreateAdd(n, f.ir.getInt64(lanes - 1)), f.ir.getInt64(lanes));
}

void step_groups(Function& f, IrValue n, std::uint64_t lanes, const WaysToStep& ways) {
  auto& ir = f.ir;
  IrValue width = ir.getInt64(lanes);
  llvm::Type* const code = f.module.i32();
  auto *fault = f.variable(code, "fault"), *together = f.variable(ir.getInt1Ty(), "together");
  ir.CreateStore(ir.getInt32(0), fault);
  f.loop(count_groups(f, n, lanes), [&](IrValue group) {
    IrValue first = ir.CreateMul(group, width);
    ir.CreateStore(ir.getFalse(), together);
    f.when(ir.CreateICmpSLE(ir.CreateAdd(first, width), n),
           [&] { ir.CreateStore(ways.together(group, first), together); });
    f.when(ir.CreateNot(ir.CreateLoad(ir.getInt1Ty(), together)), [&] {
      IrValue count = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, width, ir.CreateSub(n, first));
      f.loop(count, [&](IrValue lane) {
        IrValue now = ways.alone(group, first, lane), before = ir.CreateLoad(code, fault);
        ir.CreateStore(ir.CreateSelect(ir.CreateICmpEQ(before, ir.getInt32(0)), now, before), fault);
      });
    });
  });
  if (can_fault(f.module.program)) f.leave_unless_zero(ir.CreateLoad(code, fault));
  f.finish();
}

}  // namespace rml::codegen
