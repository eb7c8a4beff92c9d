// Converts 16-bit floats by integer arithmetic that every target has and that LLVM vectorises. The bits are those of
// runtime/kernels/half_float.h, which uses the same methods.
#include "lowering/llvm/scalars/half.h"

namespace rml::codegen {

namespace {

class Bits {
 public:
  Bits(llvm::IRBuilder<>& builder) : ir(builder) {}

  IrValue word(std::uint32_t bits) { return ir.getInt32(bits); }
  IrValue as_float(IrValue bits) { return ir.CreateBitCast(bits, ir.getFloatTy()); }
  IrValue as_word(IrValue value) { return ir.CreateBitCast(value, ir.getInt32Ty()); }
  IrValue real(double value) { return llvm::ConstantFP::get(ir.getFloatTy(), value); }

  // Converts an f16. Multiplication by 2^112 corrects the exponent, also for subnormal numbers.
  IrValue from_f16(IrValue half) {
    IrValue bits = ir.CreateZExt(half, ir.getInt32Ty());
    IrValue magnitude = ir.CreateShl(ir.CreateAnd(bits, word(0x7fff)), word(13));
    IrValue scaled = ir.CreateFMul(as_float(magnitude), real(0x1p112));
    IrValue special = ir.CreateICmpUGE(magnitude, word(0x0f800000u));
    IrValue value = ir.CreateSelect(special, ir.CreateOr(magnitude, word(0x7f800000u)), as_word(scaled));
    return as_float(ir.CreateOr(value, ir.CreateShl(ir.CreateAnd(bits, word(0x8000)), word(16))));
  }

  IrValue to_f16(IrValue value) {
    IrValue bits = as_word(value);
    IrValue sign = ir.CreateAnd(ir.CreateLShr(bits, word(16)), word(0x8000));
    IrValue magnitude = ir.CreateAnd(bits, word(0x7fffffffu));
    IrValue shifted = ir.CreateFAdd(as_float(magnitude), real(0.5));
    IrValue small = ir.CreateSub(as_word(shifted), word(0x3f000000u));
    IrValue even = ir.CreateAnd(ir.CreateLShr(magnitude, word(13)), word(1));
    IrValue rounded = ir.CreateAdd(ir.CreateAdd(magnitude, word(0xfff)), even);
    IrValue normal = ir.CreateLShr(ir.CreateSub(rounded, word(0x38000000u)), word(13));
    IrValue half = ir.CreateSelect(ir.CreateICmpULT(magnitude, word(0x38800000u)), small, normal);
    half = ir.CreateSelect(ir.CreateICmpUGE(magnitude, word(0x477ff000u)), word(0x7c00), half);
    half = ir.CreateSelect(ir.CreateICmpUGT(magnitude, word(0x7f800000u)), word(0x7e00), half);
    return ir.CreateTrunc(ir.CreateOr(half, sign), ir.getInt16Ty());
  }

  IrValue from_bf16(IrValue half) { return as_float(ir.CreateShl(ir.CreateZExt(half, ir.getInt32Ty()), word(16))); }

  IrValue to_bf16(IrValue value) {
    IrValue bits = as_word(value);
    IrValue high = ir.CreateLShr(bits, word(16));
    IrValue rounded =
        ir.CreateLShr(ir.CreateAdd(ir.CreateAdd(bits, word(0x7fff)), ir.CreateAnd(high, word(1))), word(16));
    IrValue nan = ir.CreateICmpUGT(ir.CreateAnd(bits, word(0x7fffffffu)), word(0x7f800000u));
    return ir.CreateTrunc(ir.CreateSelect(nan, ir.CreateOr(high, word(0x40)), rounded), ir.getInt16Ty());
  }

  // A double as a float, rounded to odd: the last bit tells whether digits were lost.
  IrValue to_odd(IrValue value) {
    IrValue nearest = ir.CreateFPTrunc(value, ir.getFloatTy());
    IrValue back = ir.CreateFPExt(nearest, ir.getDoubleTy());
    IrValue bits = as_word(nearest);
    const auto magnitude = [&](IrValue x) { return ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); };
    IrValue above = ir.CreateFCmpOGT(magnitude(back), magnitude(value));
    IrValue other = ir.CreateSelect(above, ir.CreateSub(bits, word(1)), ir.CreateAdd(bits, word(1)));
    IrValue even = ir.CreateICmpEQ(ir.CreateAnd(bits, word(1)), word(0));
    return as_float(ir.CreateSelect(ir.CreateAnd(ir.CreateFCmpONE(back, value), even), other, bits));
  }

  // An integer as a double. If digits are lost, the last bit of the double records that.
  IrValue wide(IrValue x, bool is_signed) {
    const auto number = [&](std::int64_t v) { return ir.getInt64(static_cast<std::uint64_t>(v)); };
    IrValue cut = ir.CreateAnd(x, number(~std::int64_t{2047}));
    IrValue lost = ir.CreateICmpNE(ir.CreateAnd(x, number(2047)), number(0));
    IrValue odd = ir.CreateOr(cut, ir.CreateSelect(lost, number(2048), number(0)));
    constexpr std::int64_t digits = std::int64_t{1} << 53;
    if (!is_signed) {
      IrValue exact = ir.CreateICmpULT(x, number(digits));
      return ir.CreateUIToFP(ir.CreateSelect(exact, x, odd), ir.getDoubleTy());
    }
    IrValue exact = ir.CreateAnd(ir.CreateICmpSGT(x, number(-digits)), ir.CreateICmpSLT(x, number(digits)));
    return ir.CreateSIToFP(ir.CreateSelect(exact, x, odd), ir.getDoubleTy());
  }

 private:
  llvm::IRBuilder<>& ir;
};

}  // namespace

// Converts a 16-bit float without fast-math transformations, which would change the bits.
IrValue from_half(llvm::IRBuilder<>& ir, DType from, IrValue x) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(ir);
  ir.clearFastMathFlags();
  Bits bits(ir);
  return from == DType::f16 ? bits.from_f16(x) : bits.from_bf16(x);
}

IrValue to_half(llvm::IRBuilder<>& ir, DType to, DType from, IrValue x) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(ir);
  ir.clearFastMathFlags();
  Bits bits(ir);
  const auto as = [&](llvm::Type* real) {
    if (is_float(from)) return x;
    return is_signed(from) ? ir.CreateSIToFP(x, real) : ir.CreateUIToFP(x, real);
  };
  if (is_half(from))
    x = from_half(ir, from, x);
  else if (from == DType::i64 || from == DType::u64)
    x = bits.to_odd(bits.wide(x, is_signed(from)));
  else if (from == DType::f64 || from == DType::i32 || from == DType::u32)
    x = bits.to_odd(as(ir.getDoubleTy()));
  else
    x = as(ir.getFloatTy());
  return to == DType::f16 ? bits.to_f16(x) : bits.to_bf16(x);
}

}  // namespace rml::codegen
