// Mathematical functions as branch-free instructions.
//
// The argument is reduced to a short interval, the function is approximated there by a polynomial or a quotient of two
// (function_coefficients.h), and the result is scaled back. Arguments are clamped, and selects handle the edges. The
// same code serves float and double, scalars and vectors. Errors against correctly rounded values (tests/functions):
//
//   float    at most 2 units in the last place, tanh 4.5
//   double   relative error at most 1e-15
//
// NaN gives NaN, and infinities give the limits. Results become subnormal and then 0, or infinite, as they should. Odd
// functions keep the sign of a zero. Products that feed a sum are fused if the target can (llvm.fmuladd), so the last
// bit may depend on the target. The order of operations matters, so fast-math flags are not used.
//
// sin and cos reduce by a multiple of pi / 2 known to about twice the precision. Beyond 2^20 multiples they call the C
// library. That is a branch, so they are functions of their own, with a vector variant that the loop vectoriser finds
// by an attribute.
#include "lowering/llvm/scalars/functions.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "lowering/llvm/scalars/function_coefficients.h"

namespace rml::codegen {

namespace {

namespace c = coefficients;
using Coefficients = std::span<const double>;

constexpr double ln2 = 0x1.62e42fefa39efp-1, log2_e = 0x1.71547652b82fep+0, log10_e = 0x1.bcb7b1526e50ep-2;
constexpr double log10_2 = 0x1.34413509f79ffp-2, two_over_pi = 0x1.45f306dc9c883p-1;

class Expansion {
 public:
  Expansion(llvm::IRBuilder<>& builder, llvm::Type* type)
      : ir(builder),
        type_(type),
        wide_(type->getScalarType()->isDoubleTy()),
        mantissa_(wide_ ? 52 : 23),
        bias_(wide_ ? 1023 : 127),
        magic_(std::ldexp(1.5, mantissa_)) {
    llvm::Type* integer = ir.getIntNTy(wide_ ? 64 : 32);
    auto* vector = llvm::dyn_cast<llvm::VectorType>(type);
    integer_ = vector == nullptr ? integer : llvm::VectorType::get(integer, vector->getElementCount());
  }

  IrValue exp(IrValue x) {
    const auto [low, high] = exp_range();
    return exp_of(above(low, below(high, x)));
  }

  IrValue exp2(IrValue x) {
    x = wide_ ? above(-1076, below(1025, x)) : above(-151, below(129, x));
    const Rounded n = round(x, 1);
    return scaled(exp_polynomial(ir.CreateFMul(ir.CreateFSub(x, n.value), number(ln2))), n.bits);
  }

  // Computes 2^n (exp(r) - 1) + (2^n - 1), with 2^(n-1) so that it is finite.
  IrValue expm1(IrValue x) {
    IrValue clamped = above(wide_ ? -38 : -18, below(exp_range().second, x));
    const auto [n, r] = reduce(clamped);
    IrValue p = fma(ir.CreateFMul(r, r), polynomial(r, pick(c::expm1_f32, c::expm1_f64)), r);
    IrValue half = power(ir.CreateSub(n.bits, bits(magic_bits() - bias_ + 1)));
    IrValue y = fma(p, half, ir.CreateFSub(half, number(0.5)));
    return or_itself(x, ir.CreateFAdd(y, y));
  }

  IrValue log(IrValue x) {
    const auto [y, n] = log_of(x);
    return edges(x, with_exponent(n, y));
  }
  IrValue log2(IrValue x) {
    const auto [y, n] = log_of(x);
    return edges(x, ir.CreateFAdd(n, times(y, log2_e, 1)));
  }
  IrValue log10(IrValue x) {
    const auto [y, n] = log_of(x);
    IrValue tail = times(y, log10_e, 0.5);
    return edges(x, fma(n, number(upper(log10_2)), fma(n, number(log10_2 - upper(log10_2)), tail)));
  }

  // log of u = 1 + x, corrected by the rounding error of u. Below half a unit of 1 the result is x.
  IrValue log1p(IrValue x) {
    IrValue one = number(1), u = ir.CreateFAdd(one, x), back = ir.CreateFSub(u, one);
    IrValue lost = ir.CreateFAdd(ir.CreateFSub(one, ir.CreateFSub(u, back)), ir.CreateFSub(x, back));
    IrValue y = edges(u, log_of_one_plus(u, lost));
    return or_itself(x, y);
  }

  // c / (c + c exp(-x)), with a power of two c such that c exp(-x) neither overflows nor is subnormal before the result
  // is 0 or 1.
  IrValue sigmoid(IrValue x) {
    const int down = mantissa_ + 1;
    IrValue c = number(std::ldexp(1, -down));
    const double least = (down + 1 - bias_) * ln2, most = (down + bias_) * ln2;
    const auto [n, r] = reduce(above(least, below(most, ir.CreateFNeg(x))));
    IrValue scale = power(ir.CreateSub(n.bits, bits(magic_bits() - bias_ + down)));
    return ir.CreateFDiv(c, ir.CreateFAdd(fma(exp_less_one(r), scale, c), scale));
  }

  IrValue softplus(IrValue x) {
    IrValue e = exp_of_negative(x), one = number(1), u = ir.CreateFAdd(one, e);
    IrValue lost = ir.CreateFSub(e, ir.CreateFSub(u, one));  // e - (u - 1) is exact, because e <= 1
    IrValue above_zero = ir.CreateSelect(ir.CreateFCmpOGT(x, number(0)), x, number(0));
    return ir.CreateFAdd(above_zero, or_itself(e, log_of_one_plus(u, lost)));
  }

  // The quotient is faster, but without fused products its error is up to 5.5 units.
  IrValue tanh(IrValue x, bool fused) {
    if (wide_ || !fused) {
      IrValue a = below(20, magnitude(x));  // tanh rounds to 1 for larger arguments
      IrValue m = expm1(ir.CreateFAdd(a, a));
      return with_sign(ir.CreateFDiv(m, ir.CreateFAdd(m, number(2))), x);
    }
    // With tanh(x / 2) = p / q it is 2 p q / (q^2 + p^2). The error of p / q has little effect where the result is near
    // 1.
    x = above(-9.02, below(9.02, x));
    IrValue z = ir.CreateFMul(x, x), q = unit_polynomial(z, c::tanh_f32_denominator), xq = ir.CreateFMul(x, q);
    IrValue rest = ir.CreateFMul(z, polynomial(z, c::tanh_f32_numerator)), half = ir.CreateFMul(x, number(0.5));
    half = fma(half, rest, half);
    return ir.CreateFDiv(fma(xq, rest, xq), fma(q, q, ir.CreateFMul(half, half)));
  }

  IrValue erf(IrValue x) {
    if (!wide_) {
      IrValue a = below(3.95, magnitude(x)), near = polynomial(ir.CreateFMul(x, x), c::erf_near_f32);
      IrValue far = ir.CreateFSub(number(1), exp_of(polynomial(a, c::erf_far_f32)));
      return ir.CreateSelect(ir.CreateFCmpOLT(a, number(0.92)), fma(x, near, x), with_sign(far, x));
    }
    IrValue a = below(5.95, magnitude(x)), z = ir.CreateFMul(a, a), near = ir.CreateFCmpOLT(a, number(1));
    IrValue p =
        ir.CreateSelect(near, polynomial(z, c::erf_near_f64_numerator), polynomial(a, c::erf_far_f64_numerator));
    IrValue q = ir.CreateSelect(near, unit_polynomial(z, c::erf_near_f64_denominator),
                                unit_polynomial(a, c::erf_far_f64_denominator));
    IrValue quotient = ir.CreateFDiv(p, q);
    IrValue far = ir.CreateFSub(number(1), ir.CreateFMul(exp_of(ir.CreateFNeg(z)), quotient));
    return with_sign(ir.CreateSelect(near, ir.CreateFMul(a, quotient), far), x);
  }

  // For |x| up to circle_bound; floats are reduced as doubles.
  IrValue sine(IrValue x, bool cosine) {
    Expansion reduction(ir, wide_ ? type_ : type_->getWithNewType(ir.getDoubleTy()));
    IrValue r = wide_ ? x : ir.CreateFPExt(x, reduction.type_);
    const Rounded n = reduction.round(r, two_over_pi);
    // pi / 2 in three parts. The first two have 33 bits, so that n times them is exact.
    for (const double part : {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69})
      r = reduction.fma(n.value, reduction.number(-part), r);
    IrValue quadrant = ir.CreateTrunc(n.bits, integer_);
    if (!wide_) r = ir.CreateFPTrunc(r, type_);
    if (cosine) quadrant = ir.CreateAdd(quadrant, bits(1));
    IrValue z = ir.CreateFMul(r, r);
    IrValue s = fma(ir.CreateFMul(r, z), polynomial(z, pick(c::sin_f32, c::sin_f64)), r);
    IrValue k = fma(ir.CreateFMul(z, z), polynomial(z, pick(c::cos_f32, c::cos_f64)), fma(z, number(-0.5), number(1)));
    IrValue odd = ir.CreateICmpNE(ir.CreateAnd(quadrant, bits(1)), bits(0));
    IrValue sign = ir.CreateShl(ir.CreateAnd(quadrant, bits(2)), bits(mantissa_ + (wide_ ? 10 : 7)));
    IrValue y = real(ir.CreateXor(integer(ir.CreateSelect(odd, k, s)), sign));
    return cosine ? y : or_itself(x, y);
  }

  IrValue number(double v) const { return llvm::ConstantFP::get(type_, v); }
  IrValue magnitude(IrValue x) { return ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }

 private:
  struct Rounded {
    IrValue bits;   // bits of `magic` plus the integer
    IrValue value;  // the integer as a float
  };

  IrValue bits(std::int64_t v) const { return llvm::ConstantInt::getSigned(integer_, v); }
  IrValue integer(IrValue x) { return ir.CreateBitCast(x, integer_); }
  IrValue real(IrValue x) { return ir.CreateBitCast(x, type_); }
  IrValue fma(IrValue a, IrValue b, IrValue s) {
    return ir.CreateIntrinsic(llvm::Intrinsic::fmuladd, {type_}, {a, b, s});
  }
  IrValue with_sign(IrValue y, IrValue x) { return ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, y, x); }
  // y, or x if x is so small that they are equal; keeps the signs of zeros and subnormal numbers.
  IrValue or_itself(IrValue x, IrValue y) {
    return ir.CreateSelect(ir.CreateFCmpOLT(magnitude(x), number(std::ldexp(1, -mantissa_ - 2))), x, y);
  }
  // Limits x to at least `low`; `below` limits it to at most `high`. NaN stays NaN.
  IrValue above(double low, IrValue x) { return ir.CreateSelect(ir.CreateFCmpOGT(number(low), x), number(low), x); }
  IrValue below(double high, IrValue x) { return ir.CreateSelect(ir.CreateFCmpOLT(number(high), x), number(high), x); }

  Coefficients pick(Coefficients narrow, Coefficients wide) const { return wide_ ? wide : narrow; }
  std::int64_t magic_bits() const {
    return wide_ ? std::bit_cast<std::int64_t>(magic_) : std::bit_cast<std::int32_t>(static_cast<float>(magic_));
  }
  // v with so few bits that the product of an exponent and the result is exact.
  double upper(double v) const {
    const int kept = wide_ ? 40 : 14;
    int exponent = 0;
    std::frexp(v, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(v, kept - exponent)), exponent - kept);
  }

  // Short polynomials use Horner's rule. Others halve the number of terms repeatedly (Estrin), which is a shorter
  // chain.
  IrValue polynomial(IrValue x, Coefficients of) {
    if (of.size() <= 5) {
      IrValue y = number(of.back());
      for (std::size_t k = of.size() - 1; k-- > 0;) y = fma(y, x, number(of[k]));
      return y;
    }
    std::vector<IrValue> terms;
    for (const double c : of) terms.push_back(number(c));
    for (; terms.size() > 1; x = ir.CreateFMul(x, x)) {
      std::vector<IrValue> half;
      for (std::size_t k = 0; k + 1 < terms.size(); k += 2) half.push_back(fma(terms[k + 1], x, terms[k]));
      if (terms.size() % 2 != 0) half.push_back(terms.back());
      terms = std::move(half);
    }
    return terms[0];
  }
  IrValue unit_polynomial(IrValue x, Coefficients of) { return fma(polynomial(x, of), x, number(1)); }

  // The integer nearest to x * factor: added to `magic`, it is in the lowest bits.
  Rounded round(IrValue x, double factor) {
    IrValue shifted = factor == 1 ? ir.CreateFAdd(x, number(magic_)) : fma(x, number(factor), number(magic_));
    return {integer(shifted), ir.CreateFSub(shifted, number(magic_))};
  }

  // Reduces x = n ln 2 + r.
  std::pair<Rounded, IrValue> reduce(IrValue x) {
    const Rounded n = round(x, log2_e);
    IrValue r = fma(n.value, number(-upper(ln2)), x);
    return {n, fma(n.value, number(-lower_ln2()), r)};
  }
  double lower_ln2() const { return (ln2 - upper(ln2)) + 0x1.abc9e3b39803fp-56; }

  // The bounds below which exp is 0, and above which it is infinite.
  std::pair<double, double> exp_range() const { return wide_ ? std::pair{-746.0, 710.0} : std::pair{-104.0, 89.0}; }
  IrValue exp_of(IrValue x) {
    const auto [n, r] = reduce(x);
    return scaled(exp_polynomial(r), n.bits);
  }
  IrValue exp_of_negative(IrValue x) {  // exp(-|x|)
    return exp_of(above(exp_range().first, ir.CreateFNeg(magnitude(x))));
  }
  IrValue exp_less_one(IrValue r) { return fma(ir.CreateFMul(r, r), polynomial(r, pick(c::exp_f32, c::exp_f64)), r); }
  IrValue exp_polynomial(IrValue r) { return ir.CreateFAdd(exp_less_one(r), number(1)); }
  // 2 to the power whose biased exponent is in the lowest bits.
  IrValue power(IrValue biased) { return real(ir.CreateShl(biased, bits(mantissa_))); }
  // y 2^n in two steps, because 2^n need not be a normal number. Only the second step rounds.
  IrValue scaled(IrValue y, IrValue n) {
    IrValue sum = ir.CreateSub(n, bits(magic_bits() - 2 * bias_)), half = ir.CreateLShr(sum, bits(1));
    return ir.CreateFMul(ir.CreateFMul(y, power(half)), power(ir.CreateSub(sum, half)));
  }

  // Splits x = m 2^n, with m between the roots of 1/2 and 2, into the biased bits of n, and m.
  std::pair<IrValue, IrValue> split(IrValue x) {
    IrValue i = integer(x);
    const std::int64_t root = wide_ ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
    const std::int64_t raised = (std::int64_t{bias_} << mantissa_) - root;
    IrValue n = ir.CreateLShr(ir.CreateAdd(i, bits(raised)), bits(mantissa_));
    IrValue m = ir.CreateSub(i, ir.CreateShl(ir.CreateSub(n, bits(bias_)), bits(mantissa_)));
    return {n, real(m)};
  }
  IrValue exponent(IrValue biased) {
    return ir.CreateFSub(real(ir.CreateAdd(biased, bits(magic_bits()))), number(magic_ + bias_));
  }
  // log(1 + f) without its largest term, f.
  IrValue log_rest(IrValue f) {
    if (!wide_) {
      IrValue square = ir.CreateFMul(f, f), p = ir.CreateFMul(f, polynomial(f, c::log_f32));
      return ir.CreateFMul(square, ir.CreateFAdd(p, number(-0.5)));
    }
    IrValue s = ir.CreateFDiv(f, ir.CreateFAdd(f, number(2))), z = ir.CreateFMul(s, s);
    IrValue half = ir.CreateFMul(ir.CreateFMul(f, f), number(0.5));
    return ir.CreateFSub(ir.CreateFMul(s, fma(z, polynomial(z, c::log_f64), half)), half);
  }
  struct MantissaLog {
    IrValue f, rest;
  };
  // log of a positive x as the log of its mantissa, in two terms, and an exponent.
  std::pair<MantissaLog, IrValue> log_of(IrValue x) {
    const int up = mantissa_ + 1;
    IrValue tiny = ir.CreateFCmpOLT(x, number(std::ldexp(1, 1 - bias_)));
    const auto [biased, m] = split(ir.CreateSelect(tiny, ir.CreateFMul(x, number(std::ldexp(1, up))), x));
    IrValue n = ir.CreateFSub(exponent(biased), ir.CreateSelect(tiny, number(up), number(0)));
    IrValue f = ir.CreateFSub(m, number(1));
    return {{f, log_rest(f)}, n};
  }
  IrValue with_exponent(IrValue n, MantissaLog y) {
    IrValue low = fma(n, number(lower_ln2()), y.rest);
    return fma(n, number(upper(ln2)), ir.CreateFAdd(y.f, low));
  }
  // `high` is a power of two near the factor, so that its product with f is exact.
  IrValue times(MantissaLog y, double factor, double high) {
    IrValue low = fma(y.f, number(factor - high), ir.CreateFMul(y.rest, number(factor)));
    return fma(y.f, number(high), low);
  }
  // log(u + lost), where u is between 2^-mantissa and infinity.
  IrValue log_of_one_plus(IrValue u, IrValue lost) {
    const auto [biased, m] = split(u);
    IrValue f = ir.CreateFSub(m, number(1));
    IrValue correction = ir.CreateFMul(lost, power(ir.CreateSub(bits(2 * bias_), biased)));
    IrValue large = ir.CreateFCmpOGT(u, number(std::ldexp(1, mantissa_ + 2)));
    f = ir.CreateSelect(large, f, ir.CreateFAdd(f, correction));
    return with_exponent(exponent(biased), {f, log_rest(f)});
  }
  // Adds the special cases of a logarithm: -inf for 0, NaN for a negative number, infinity for itself.
  IrValue edges(IrValue x, IrValue y) {
    const double infinity = std::numeric_limits<double>::infinity();
    IrValue none = ir.CreateSelect(ir.CreateFCmpOEQ(x, number(0)), number(-infinity),
                                   number(std::numeric_limits<double>::quiet_NaN()));
    y = ir.CreateSelect(ir.CreateFCmpOGT(x, number(0)), y, none);
    return ir.CreateSelect(ir.CreateFCmpOEQ(x, number(infinity)), x, y);
  }

  llvm::IRBuilder<>& ir;
  llvm::Type *type_, *integer_;
  bool wide_;
  int mantissa_, bias_;
  double magic_;
};

constexpr double circle_bound = 1e6;  // largest argument of sine and cosine that is reduced here; less than 2^20 pi / 2

std::string type_name(llvm::Type* type) {
  const std::string scalar = type->getScalarType()->isDoubleTy() ? "f64" : "f32";
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector == nullptr ? scalar : scalar + "x" + std::to_string(vector->getNumElements());
}

// Replaces the lanes of y in `far` by results of the C library, and ends with a return.
void patch_lanes(llvm::IRBuilder<>& ir, llvm::FunctionCallee exact, IrValue x, IrValue y, IrValue far) {
  auto* from = ir.GetInsertBlock();
  auto* f = from->getParent();
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(f->getContext(), name, f); };
  auto *head = block("lane"), *call = block("far"), *next = block("next"), *done = block("done");
  const auto lanes = llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements();
  ir.CreateBr(head);
  ir.SetInsertPoint(head);
  auto *lane = ir.CreatePHI(ir.getInt32Ty(), 2), *so_far = ir.CreatePHI(x->getType(), 2);
  ir.CreateCondBr(ir.CreateExtractElement(far, lane), call, next);
  ir.SetInsertPoint(call);
  IrValue patched = ir.CreateInsertElement(so_far, ir.CreateCall(exact, {ir.CreateExtractElement(x, lane)}), lane);
  ir.CreateBr(next);
  ir.SetInsertPoint(next);
  auto* now = ir.CreatePHI(x->getType(), 2);
  now->addIncoming(so_far, head), now->addIncoming(patched, call);
  IrValue following = ir.CreateAdd(lane, ir.getInt32(1));
  lane->addIncoming(ir.getInt32(0), from), lane->addIncoming(following, next);
  so_far->addIncoming(y, from), so_far->addIncoming(now, next);
  ir.CreateCondBr(ir.CreateICmpULT(following, ir.getInt32(lanes)), head, done);
  ir.SetInsertPoint(done);
  ir.CreateRet(now);
}

// The function of `type` with that name, such as rml.sin.f32. If it is new, `write` fills its only block.
llvm::Function* function_of(llvm::Module& module, const std::string& name, llvm::Type* type,
                            const std::function<void(llvm::IRBuilder<>&, llvm::Function*)>& write) {
  const std::string symbol = "rml." + name + "." + type_name(type);
  if (llvm::Function* f = module.getFunction(symbol)) return f;
  auto* f = llvm::Function::Create(llvm::FunctionType::get(type, {type}, false), llvm::GlobalValue::InternalLinkage,
                                   symbol, module);
  f->setDoesNotThrow();
  f->setDoesNotAccessMemory();
  f->addFnAttr(llvm::Attribute::WillReturn);
  f->addFnAttr(llvm::Attribute::NoInline);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.getContext(), "entry", f));
  write(ir, f);
  return f;
}

void write_circular(llvm::IRBuilder<>& ir, llvm::Function* f, bool cosine) {
  llvm::Module& module = *f->getParent();
  llvm::Type* type = f->getReturnType();
  Expansion e(ir, type);
  IrValue x = f->getArg(0), far = ir.CreateFCmpUGT(e.magnitude(x), e.number(circle_bound));
  auto* near_block = llvm::BasicBlock::Create(module.getContext(), "near", f);
  auto* far_block = llvm::BasicBlock::Create(module.getContext(), "some_far", f);
  const auto exact = c_function(module, cosine ? "cos" : "sin", type->getScalarType(), 1);
  IrValue y = e.sine(x, cosine);
  ir.CreateCondBr(type->isVectorTy() ? ir.CreateOrReduce(far) : far, far_block, near_block);
  ir.SetInsertPoint(near_block);
  ir.CreateRet(y);
  ir.SetInsertPoint(far_block);
  if (type->isVectorTy())
    patch_lanes(ir, exact, x, y, far);
  else
    ir.CreateRet(ir.CreateCall(exact, {x}));
}

llvm::Function* circular(llvm::Module& module, bool cosine, llvm::Type* type) {
  return function_of(module, cosine ? "cos" : "sin", type,
                     [&](llvm::IRBuilder<>& ir, llvm::Function* f) { write_circular(ir, f, cosine); });
}

IrValue call_circular(llvm::IRBuilder<>& ir, bool cosine, IrValue x, unsigned loop_bits) {
  llvm::Module& module = *ir.GetInsertBlock()->getModule();
  auto* f = circular(module, cosine, x->getType());
  auto* call = ir.CreateCall(f, {x});
  const unsigned lanes = loop_bits / x->getType()->getScalarSizeInBits();
  if (lanes < 2) return call;
  auto* of_vectors = circular(module, cosine, llvm::FixedVectorType::get(x->getType(), lanes));
  llvm::appendToCompilerUsed(module, {of_vectors});
  const std::string variant =
      "_ZGV_LLVM_N" + std::to_string(lanes) + "v_" + f->getName().str() + "(" + of_vectors->getName().str() + ")";
  call->addFnAttr(llvm::Attribute::get(module.getContext(), "vector-function-abi-variant", variant));
  return call;
}

IrValue write_out(llvm::IRBuilder<>& ir, ScalarOp f, IrValue x, const Numeric& numeric) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(ir);
  ir.clearFastMathFlags();
  Expansion e(ir, x->getType());
  switch (f) {
    case ScalarOp::exp:
      return e.exp(x);
    case ScalarOp::exp2:
      return e.exp2(x);
    case ScalarOp::expm1:
      return e.expm1(x);
    case ScalarOp::log:
      return e.log(x);
    case ScalarOp::log2:
      return e.log2(x);
    case ScalarOp::log10:
      return e.log10(x);
    case ScalarOp::log1p:
      return e.log1p(x);
    case ScalarOp::tanh:
      return e.tanh(x, numeric.fused);
    case ScalarOp::sigmoid:
      return e.sigmoid(x);
    case ScalarOp::softplus:
      return e.softplus(x);
    case ScalarOp::erf:
      return e.erf(x);
    default:
      throw std::logic_error("code generation: no instructions for a function");
  }
}

}  // namespace

llvm::FunctionCallee c_function(llvm::Module& module, const std::string& name, llvm::Type* type, unsigned operands) {
  auto* signature = llvm::FunctionType::get(type, std::vector<llvm::Type*>(operands, type), false);
  auto callee = module.getOrInsertFunction(type->isFloatTy() ? name + "f" : name, signature);
  auto* f = llvm::cast<llvm::Function>(callee.getCallee());
  // The calls may ignore errno, which is never read.
  f->setDoesNotThrow();
  f->setDoesNotAccessMemory();
  f->addFnAttr(llvm::Attribute::WillReturn);
  f->addFnAttr(llvm::Attribute::NoBuiltin);
  return callee;
}

IrValue expand(llvm::IRBuilder<>& ir, const OperatorInfo& row, IrValue x, const Target& target,
               const Numeric& numeric) {
  if (row.effort == Effort::circular) return call_circular(ir, row.scalar == ScalarOp::cos, x, target.loop_bits);
  if (!target.size_first) return write_out(ir, row.scalar, x, numeric);
  llvm::Module& module = *ir.GetInsertBlock()->getModule();
  auto* called =
      function_of(module, std::string(row.name), x->getType(), [&](llvm::IRBuilder<>& of_function, llvm::Function* f) {
        of_function.CreateRet(write_out(of_function, row.scalar, f->getArg(0), numeric));
      });
  return ir.CreateCall(called, {x});
}

}  // namespace rml::codegen
