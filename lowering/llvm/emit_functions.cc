// The scalar operations of semantics/operators/functions.cc, as defined by scalar_functions.h.
#include <stdexcept>

#include "lowering/llvm/body.h"

namespace rml::codegen {

namespace {
struct LibraryFunction {
  ScalarOp op;
  const char* name;
};
constexpr LibraryFunction library_functions[] = {
    {ScalarOp::log1p, "log1p"}, {ScalarOp::expm1, "expm1"}, {ScalarOp::log2, "log2"},   {ScalarOp::log10, "log10"},
    {ScalarOp::exp2, "exp2"},   {ScalarOp::tan, "tan"},     {ScalarOp::asin, "asin"},   {ScalarOp::acos, "acos"},
    {ScalarOp::atan, "atan"},   {ScalarOp::sinh, "sinh"},   {ScalarOp::cosh, "cosh"},   {ScalarOp::asinh, "asinh"},
    {ScalarOp::acosh, "acosh"}, {ScalarOp::atanh, "atanh"}, {ScalarOp::erf, "erf"},     {ScalarOp::erfc, "erfc"},
    {ScalarOp::cbrt, "cbrt"},   {ScalarOp::atan2, "atan2"}, {ScalarOp::hypot, "hypot"},
};
}  // namespace

IrValue Body::further_operation(ScalarOp op, DType dtype, ValueId v, const std::vector<IrValue>& x) {
  if (IrValue here = inlined(op, dtype, x[0]); here != nullptr) return here;
  for (const LibraryFunction& f : library_functions) {
    if (f.op != op) continue;
    return x.size() == 1 ? library(f.name, dtype, {x[0]}) : library(f.name, dtype, {x[0], x[1]});
  }
  auto* type = x[0]->getType();
  const bool real = is_float(dtype);
  const auto absolute = [&] { return ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x[0]); };
  const auto one = [&] { return llvm::ConstantFP::get(type, 1); };
  switch (op) {
    case ScalarOp::trunc:
      return ir.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, x[0]);
    case ScalarOp::copysign:
      return ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x[0], x[1]);
    case ScalarOp::softplus: {
      auto* zero = llvm::ConstantFP::get(type, 0);
      IrValue above = ir.CreateSelect(ir.CreateFCmpOGT(x[0], zero), x[0], zero);
      IrValue power = library("exp", dtype, {ir.CreateFNeg(absolute())});
      return ir.CreateFAdd(above, library("log1p", dtype, {power}));
    }
    case ScalarOp::reciprocal:
      return ir.CreateFDiv(one(), x[0]);
    case ScalarOp::square:
      return multiply(dtype, x[0], x[0]);
    case ScalarOp::rsqrt:
      return ir.CreateFDiv(one(), ir.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x[0]));
    case ScalarOp::is_nan:
      return ir.CreateFCmpUNO(x[0], x[0]);
    case ScalarOp::is_inf:
      return ir.CreateFCmpOEQ(absolute(), llvm::ConstantFP::getInfinity(type));
    case ScalarOp::is_finite:
      return ir.CreateFCmpOLT(absolute(), llvm::ConstantFP::getInfinity(type));
    case ScalarOp::floor_mod: {
      auto* zero = llvm::Constant::getNullValue(type);
      IrValue r = arithmetic(ScalarOp::mod, dtype, v, x[0], x[1]);
      if (!real && !is_signed(dtype)) return r;
      const auto below = [&](IrValue a) { return comparison(ScalarOp::lt, dtype, a, zero); };
      IrValue none = comparison(ScalarOp::eq, dtype, r, zero);
      IrValue moved = ir.CreateSelect(ir.CreateXor(below(r), below(x[1])), add(dtype, r, x[1]), r);
      return ir.CreateSelect(none, real ? ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, r, x[1]) : r, moved);
    }
    case ScalarOp::logical_xor:
    case ScalarOp::bit_xor:
      return ir.CreateXor(x[0], x[1]);
    case ScalarOp::bit_and:
      return ir.CreateAnd(x[0], x[1]);
    case ScalarOp::bit_or:
      return ir.CreateOr(x[0], x[1]);
    case ScalarOp::bit_not:
      return ir.CreateNot(x[0]);
    case ScalarOp::left_shift:
    case ScalarOp::right_shift: {
      // A distance below 0 is one of many bits, seen without its sign.
      const unsigned bits = type->getIntegerBitWidth();
      IrValue within = ir.CreateICmpULT(x[1], llvm::ConstantInt::get(type, bits));
      auto* zero = llvm::ConstantInt::get(type, 0);
      IrValue distance = ir.CreateSelect(within, x[1], zero);
      if (op == ScalarOp::left_shift) return ir.CreateSelect(within, ir.CreateShl(x[0], distance), zero);
      if (!is_signed(dtype)) return ir.CreateSelect(within, ir.CreateLShr(x[0], distance), zero);
      return ir.CreateSelect(within, ir.CreateAShr(x[0], distance), ir.CreateAShr(x[0], bits - 1));
    }
    case ScalarOp::clip:
      return extremum(false, dtype, extremum(true, dtype, x[0], x[1]), x[2]);
    default:
      throw std::logic_error("code generation: an elementwise row without a scalar operation");
  }
}

}  // namespace rml::codegen
