// The scalar operations of elementwise rows, as defined by semantics/operators/scalar.h.
//
// Integers wrap; division checks for zero and avoids the overflow of the smallest integer
// by -1; comparisons with NaN are false except ne. Functions beyond the four operations and the
// square root are inlined (functions.h) or, at -O0 and with strict_math, calls into libm kept as
// they are (nobuiltin), so that results equal those of the reference engine bit for bit.
#include <stdexcept>

#include "lowering/llvm/body.h"
#include "lowering/llvm/functions.h"
#include "runtime/base/rmlrt.h"

namespace rml::codegen {

IrValue Body::scalar_operation(ValueId v, const std::vector<IrValue>& x) {
  const auto& apply = std::get<core::Apply>(info(v).rhs);
  const ScalarOp op = operators()[apply.op].scalar;
  const DType dtype = info(apply.operands[0]).dtype;
  if (IrValue y = inlined(op, dtype, x[0])) return y;
  switch (op) {
    case ScalarOp::add:
    case ScalarOp::sub:
    case ScalarOp::mul:
    case ScalarOp::div:
    case ScalarOp::mod:
    case ScalarOp::minimum:
    case ScalarOp::maximum:
    case ScalarOp::pow:
      return arithmetic(op, dtype, v, x[0], x[1]);
    case ScalarOp::eq:
    case ScalarOp::ne:
    case ScalarOp::lt:
    case ScalarOp::le:
    case ScalarOp::gt:
    case ScalarOp::ge:
      return comparison(op, dtype, x[0], x[1]);
    case ScalarOp::logical_and:
      return ir.CreateAnd(x[0], x[1]);
    case ScalarOp::logical_or:
      return ir.CreateOr(x[0], x[1]);
    case ScalarOp::logical_not:
      return ir.CreateNot(x[0]);
    case ScalarOp::select:
      return ir.CreateSelect(x[0], x[1], x[2]);
    case ScalarOp::cast:
      return convert(info(v).dtype, dtype, x[0]);
    case ScalarOp::identity:
      return x[0];
    case ScalarOp::negate:
    case ScalarOp::abs:
    case ScalarOp::sign:
    case ScalarOp::floor:
    case ScalarOp::ceil:
    case ScalarOp::round:
    case ScalarOp::exp:
    case ScalarOp::log:
    case ScalarOp::sqrt:
    case ScalarOp::sin:
    case ScalarOp::cos:
    case ScalarOp::tanh:
    case ScalarOp::sigmoid:
    case ScalarOp::relu:
      return function(op, dtype, x[0]);
    case ScalarOp::none:
      throw std::logic_error("code generation: an elementwise row without a scalar operation");
    default:
      return further_operation(op, dtype, v, x);
  }
}

IrValue Body::add(DType dtype, IrValue a, IrValue b) {
  return is_float(dtype) ? ir.CreateFAdd(a, b) : ir.CreateAdd(a, b);
}
IrValue Body::multiply(DType dtype, IrValue a, IrValue b) {
  return is_float(dtype) ? ir.CreateFMul(a, b) : ir.CreateMul(a, b);
}

IrValue Body::arithmetic(ScalarOp op, DType dtype, ValueId v, IrValue a, IrValue b) {
  const bool real = is_float(dtype);
  if (op == ScalarOp::add) return add(dtype, a, b);
  if (op == ScalarOp::sub) return real ? ir.CreateFSub(a, b) : ir.CreateSub(a, b);
  if (op == ScalarOp::mul) return multiply(dtype, a, b);
  if (op == ScalarOp::div) return real ? ir.CreateFDiv(a, b) : division(false, dtype, v, a, b);
  if (op == ScalarOp::mod) return real ? library("fmod", dtype, {a, b}) : division(true, dtype, v, a, b);
  if (op == ScalarOp::pow) return real ? library("pow", dtype, {a, b}) : integer_power(dtype, a, b);
  return extremum(op == ScalarOp::maximum, dtype, a, b);
}

IrValue Body::division(bool remainder, DType dtype, ValueId v, IrValue a, IrValue b) {
  check(ir.CreateICmpEQ(b, llvm::ConstantInt::get(b->getType(), 0)), RML_FAULT_DIVISION, module.site(v));
  if (!is_signed(dtype)) return remainder ? ir.CreateURem(a, b) : ir.CreateUDiv(a, b);
  auto* minus_one = llvm::ConstantInt::getSigned(b->getType(), -1);
  IrValue by_minus_one = ir.CreateICmpEQ(b, minus_one);
  IrValue divisor = ir.CreateSelect(by_minus_one, llvm::ConstantInt::get(b->getType(), 1), b);
  if (remainder) return ir.CreateSRem(a, divisor);
  return ir.CreateSelect(by_minus_one, ir.CreateNeg(a), ir.CreateSDiv(a, divisor));
}

// NaN if either is; a where they compare equal.
IrValue Body::extremum(bool maximum, DType dtype, IrValue a, IrValue b) {
  if (!is_float(dtype)) {
    const auto less = is_signed(dtype) ? llvm::CmpInst::ICMP_SLE : llvm::CmpInst::ICMP_ULE;
    const auto more = is_signed(dtype) ? llvm::CmpInst::ICMP_SGE : llvm::CmpInst::ICMP_UGE;
    return ir.CreateSelect(ir.CreateICmp(maximum ? more : less, a, b), a, b);
  }
  IrValue before = maximum ? ir.CreateFCmpOGE(a, b) : ir.CreateFCmpOLE(a, b);
  return ir.CreateSelect(ir.CreateOr(before, ir.CreateFCmpUNO(a, a)), a, b);
}

IrValue Body::comparison(ScalarOp op, DType dtype, IrValue a, IrValue b) {
  if (is_half(dtype)) return comparison(op, DType::f32, convert(DType::f32, dtype, a), convert(DType::f32, dtype, b));
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

IrValue Body::function(ScalarOp op, DType dtype, IrValue x) {
  const bool real = is_float(dtype);
  auto* type = x->getType();
  auto* zero = llvm::Constant::getNullValue(type);
  auto* one = real ? static_cast<llvm::Constant*>(llvm::ConstantFP::get(type, 1)) : llvm::ConstantInt::get(type, 1);
  if (op == ScalarOp::negate) return real ? ir.CreateFNeg(x) : ir.CreateNeg(x);
  if (op == ScalarOp::abs) {
    if (real) return ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    return is_signed(dtype) ? ir.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, ir.getFalse()) : x;
  }
  if (op == ScalarOp::sign) {
    if (!real)
      return ir.CreateSelect(comparison(ScalarOp::gt, dtype, x, zero), one,
                             is_signed(dtype) ? ir.CreateAShr(x, type->getIntegerBitWidth() - 1) : zero);
    IrValue below = ir.CreateSelect(ir.CreateFCmpOLT(x, zero), llvm::ConstantFP::get(type, -1), zero);
    IrValue sign = ir.CreateSelect(ir.CreateFCmpOGT(x, zero), one, below);
    return ir.CreateSelect(ir.CreateFCmpUNO(x, x), x, sign);
  }
  if (op == ScalarOp::relu) {  // x > 0 or NaN
    return ir.CreateSelect(real ? ir.CreateFCmpUGT(x, zero) : comparison(ScalarOp::gt, dtype, x, zero), x, zero);
  }
  if (op == ScalarOp::floor) return ir.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x);
  if (op == ScalarOp::ceil) return ir.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, x);
  if (op == ScalarOp::round) return ir.CreateUnaryIntrinsic(llvm::Intrinsic::nearbyint, x);
  if (op == ScalarOp::sqrt) return ir.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
  if (op == ScalarOp::sigmoid) return ir.CreateFDiv(one, ir.CreateFAdd(one, library("exp", dtype, {ir.CreateFNeg(x)})));
  if (op == ScalarOp::exp) return library("exp", dtype, {x});
  if (op == ScalarOp::log) return library("log", dtype, {x});
  if (op == ScalarOp::sin) return library("sin", dtype, {x});
  if (op == ScalarOp::cos) return library("cos", dtype, {x});
  return library("tanh", dtype, {x});
}

IrValue Body::library(const char* name, DType dtype, std::initializer_list<IrValue> operands) {
  auto* type = register_type(module.context, dtype);
  auto* call = ir.CreateCall(c_function(module.module, name, type, static_cast<unsigned>(operands.size())),
                             std::vector<IrValue>(operands));
  call->addFnAttr(llvm::Attribute::NoBuiltin);
  return call;
}

// Null where the function is to be the C library's, or is none that can be inlined.
IrValue Body::inlined(ScalarOp op, DType dtype, IrValue x) {
  const auto f = inlined_function(op);
  if (!f || module.numeric.calls_libm || (dtype != DType::f32 && dtype != DType::f64)) return nullptr;
  return expand(ir, *f, x, module.target, module.numeric);
}

IrValue Body::convert(DType to, DType from, IrValue x) {
  auto* type = register_type(module.context, to);
  if (to == from) return x;
  if (is_half(from)) return convert(to, DType::f32, from_half(from, x));
  if (is_half(to)) return to_half(to, from, x);
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

// Repeated squaring; a negative exponent gives 0 unless the base is 1 or -1. One function
// per dtype, since it loops.
IrValue Body::integer_power(DType dtype, IrValue a, IrValue b) {
  const std::string symbol = "power_" + std::string(name(dtype));
  auto* type = a->getType();
  if (llvm::Function* f = module.module.getFunction(symbol)) return ir.CreateCall(f, {a, b});
  auto* f = module.function(symbol, type, {type, type}, false);
  f->setDoesNotAccessMemory();
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(module.context, name, f); };
  auto *entry = block("entry"), *loop = block("loop"), *negative = block("negative"), *done = block("done");
  llvm::IRBuilder<> make(entry);
  auto *base = f->getArg(0), *exponent = f->getArg(1);
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
  return ir.CreateCall(f, {a, b});
}

}  // namespace rml::codegen
