// Arithmetic on scalars: integers wrap around; division checks for zero and avoids the overflow of the smallest integer
// by -1; comparisons with NaN are false except ne.
#include "lowering/llvm/scalars/arithmetic.h"

#include "lowering/llvm/scalars/functions.h"
#include "lowering/llvm/scalars/half.h"
#include "runtime/base/rmlrt.h"

namespace rml::codegen {

IrValue add(Function& f, DType dtype, IrValue a, IrValue b) {
  auto& ir = f.ir;
  return is_float(dtype) ? ir.CreateFAdd(a, b) : ir.CreateAdd(a, b);
}

IrValue multiply(Function& f, DType dtype, IrValue a, IrValue b) {
  auto& ir = f.ir;
  return is_float(dtype) ? ir.CreateFMul(a, b) : ir.CreateMul(a, b);
}

IrValue multiply_add(Function& f, DType dtype, IrValue a, IrValue b, IrValue sum) {
  if (is_float(dtype) && !f.module.numeric.strict)
    return f.ir.CreateIntrinsic(llvm::Intrinsic::fmuladd, {a->getType()}, {a, b, sum});
  return add(f, dtype, sum, multiply(f, dtype, a, b));
}

IrValue division(Function& f, bool remainder, DType dtype, ValueId v, IrValue a, IrValue b) {
  auto& ir = f.ir;
  f.check(ir.CreateICmpEQ(b, llvm::ConstantInt::get(b->getType(), 0)), RML_FAULT_DIVISION, f.module.site(v));
  if (!is_signed(dtype)) return remainder ? ir.CreateURem(a, b) : ir.CreateUDiv(a, b);
  auto* minus_one = llvm::ConstantInt::getSigned(b->getType(), -1);
  IrValue by_minus_one = ir.CreateICmpEQ(b, minus_one);
  IrValue divisor = ir.CreateSelect(by_minus_one, llvm::ConstantInt::get(b->getType(), 1), b);
  if (remainder) return ir.CreateSRem(a, divisor);
  return ir.CreateSelect(by_minus_one, ir.CreateNeg(a), ir.CreateSDiv(a, divisor));
}

IrValue convert(Function& f, DType to, DType from, IrValue x) {
  auto& ir = f.ir;
  auto* type = register_type(f.module.context, to);
  if (to == from) return x;
  if (is_half(from)) return convert(f, to, DType::f32, from_half(f.ir, from, x));
  if (is_half(to)) return to_half(f.ir, to, from, x);
  const bool from_signed = is_signed(from);
  if (to == DType::boolean) {
    auto* zero = llvm::Constant::getNullValue(x->getType());
    return is_float(from) ? ir.CreateFCmpUNE(x, zero) : ir.CreateICmpNE(x, zero);
  }
  if (is_float(from)) {
    if (is_float(to)) return ir.CreateFPCast(x, type);
    return ir.CreateIntrinsic(is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                              {type, x->getType()}, {x});
  }
  if (is_float(to)) return from_signed ? ir.CreateSIToFP(x, type) : ir.CreateUIToFP(x, type);
  return ir.CreateIntCast(x, type, from_signed);
}

IrValue comparison(Function& f, ScalarOp op, DType dtype, IrValue a, IrValue b) {
  auto& ir = f.ir;
  if (is_half(dtype))
    return comparison(f, op, DType::f32, convert(f, DType::f32, dtype, a), convert(f, DType::f32, dtype, b));
  using P = llvm::CmpInst::Predicate;
  const bool real = is_float(dtype), sign = is_signed(dtype);
  const auto choose = [&](P of_float, P of_signed, P of_unsigned) {
    return real ? ir.CreateFCmp(of_float, a, b) : ir.CreateICmp(sign ? of_signed : of_unsigned, a, b);
  };
  if (op == ScalarOp::eq) return choose(P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ);
  if (op == ScalarOp::ne) return choose(P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE);
  if (op == ScalarOp::lt) return choose(P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT);
  if (op == ScalarOp::le) return choose(P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE);
  if (op == ScalarOp::gt) return choose(P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT);
  return choose(P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE);
}

IrValue library(Function& f, std::string_view name, DType dtype, const std::vector<IrValue>& operands) {
  auto* type = register_type(f.module.context, dtype);
  auto* call = f.ir.CreateCall(
      c_function(f.module.module, std::string(name), type, static_cast<unsigned>(operands.size())), operands);
  call->addFnAttr(llvm::Attribute::NoBuiltin);
  return call;
}

// Repeated squaring. A negative exponent gives 0 unless the base is 1 or -1. There is one function per dtype, because
// it contains a loop.
IrValue integer_power(Function& f, DType dtype, IrValue a, IrValue b) {
  auto& ir = f.ir;
  const std::string symbol = "power_" + std::string(name(dtype));
  auto* type = a->getType();
  if (llvm::Function* made = f.module.module.getFunction(symbol)) return ir.CreateCall(made, {a, b});
  auto* made = f.module.function(symbol, type, {type, type}, false);
  made->setDoesNotAccessMemory();
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(f.module.context, name, made); };
  auto *entry = block("entry"), *loop = block("loop"), *negative = block("negative"), *done = block("done");
  llvm::IRBuilder<> make(entry);
  auto *base = made->getArg(0), *exponent = made->getArg(1);
  auto* zero = llvm::ConstantInt::get(type, 0);
  auto* one = llvm::ConstantInt::get(type, 1);
  auto* minus_one = llvm::ConstantInt::getSigned(type, -1);
  make.CreateCondBr(is_signed(dtype) ? make.CreateICmpSLT(exponent, zero) : make.getFalse(), negative, loop);
  make.SetInsertPoint(negative);
  IrValue odd = make.CreateTrunc(exponent, make.getInt1Ty());
  IrValue of_minus_one = make.CreateSelect(odd, minus_one, one);
  make.CreateRet(make.CreateSelect(make.CreateICmpEQ(base, one), one,
                                   make.CreateSelect(make.CreateICmpEQ(base, minus_one), of_minus_one, zero)));
  make.SetInsertPoint(loop);
  auto *power = make.CreatePHI(type, 2), *left = make.CreatePHI(type, 2), *product = make.CreatePHI(type, 2);
  IrValue taken = make.CreateSelect(make.CreateTrunc(left, make.getInt1Ty()), make.CreateMul(product, power), product);
  IrValue rest = make.CreateLShr(left, 1);
  IrValue squared = make.CreateMul(power, power);
  power->addIncoming(base, entry), left->addIncoming(exponent, entry), product->addIncoming(one, entry);
  power->addIncoming(squared, loop), left->addIncoming(rest, loop), product->addIncoming(taken, loop);
  make.CreateCondBr(make.CreateICmpNE(rest, zero), loop, done);
  make.SetInsertPoint(done);
  make.CreateRet(taken);
  return ir.CreateCall(made, {a, b});
}

}  // namespace rml::codegen
