// Writes bodies of scalar operations (semantics/operators/spelling.h) as instructions on one element or on vectors of
// elements.
#include "lowering/llvm/scalars/spell.h"

#include <stdexcept>

#include "lowering/llvm/scalars/arithmetic.h"
#include "runtime/base/rmlrt.h"
#include "semantics/operators/scalar_functions.h"

namespace rml::codegen {

namespace {

class Instructions final : public scalar::Spelling {
 public:
  using Term = scalar::Term;
  // Emits instructions for the value v, whose operands have this type.
  Instructions(Function& f, DType dtype, ValueId v, llvm::Type* type)
      : f_(f), ir(f.ir), dtype_(dtype), value_(v), type_(type) {}

  Term term(IrValue x) { return {*this, x}; }
  static IrValue code(Term x) { return static_cast<IrValue>(x.what()); }

  bool is_real() const override { return is_float(dtype_); }
  bool has_sign() const override { return is_real() || is_signed(dtype_); }
  Term number(double v) override {
    if (is_real()) return term(llvm::ConstantFP::get(type_, v));
    return term(llvm::ConstantInt::getSigned(type_, static_cast<std::int64_t>(v)));
  }
  Term operation(ScalarOp op, std::span<const Term> operands) override {
    std::vector<IrValue> x;
    for (const Term& o : operands) x.push_back(code(o));
    return term(x.size() == 1 ? of_one(op, x[0]) : of_several(op, x));
  }
  Term call(std::string_view function, Term x) override { return term(library(f_, function, dtype_, {code(x)})); }
  Term is_nan(Term x) override { return term(ir.CreateFCmpUNO(code(x), code(x))); }
  Term above_or_nan(Term x, Term bound) override {
    if (is_real()) return term(ir.CreateFCmpUGT(code(x), code(bound)));
    return term(comparison(f_, ScalarOp::gt, dtype_, code(x), code(bound)));
  }
  void stop_if(Term bad) override { f_.check(code(bad), RML_FAULT_NUMERIC, f_.module.site(value_)); }

 private:
  IrValue of_one(ScalarOp op, IrValue x) {
    switch (op) {
      case ScalarOp::negate:
        return is_real() ? ir.CreateFNeg(x) : ir.CreateNeg(x);
      case ScalarOp::abs:
        if (is_real()) return ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
        return has_sign() ? ir.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, ir.getFalse()) : x;
      case ScalarOp::sign:
        return sign(x);
      case ScalarOp::floor:
        return ir.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x);
      case ScalarOp::ceil:
        return ir.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, x);
      case ScalarOp::round:
        return ir.CreateUnaryIntrinsic(llvm::Intrinsic::nearbyint, x);
      case ScalarOp::trunc:
        return ir.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, x);
      case ScalarOp::sqrt:
        return ir.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
      case ScalarOp::logical_not:
      case ScalarOp::bit_not:
        return ir.CreateNot(x);
      default:
        throw std::logic_error("code generation: no instructions for a body");
    }
  }

  IrValue of_several(ScalarOp op, const std::vector<IrValue>& x) {
    switch (op) {
      case ScalarOp::add:
        return add(f_, dtype_, x[0], x[1]);
      case ScalarOp::sub:
        return is_real() ? ir.CreateFSub(x[0], x[1]) : ir.CreateSub(x[0], x[1]);
      case ScalarOp::mul:
        return multiply(f_, dtype_, x[0], x[1]);
      case ScalarOp::div:
      case ScalarOp::mod:
      case ScalarOp::pow:
        return is_real() ? of_floats(op, x) : of_integers(op, x[0], x[1]);
      case ScalarOp::copysign:
        return ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x[0], x[1]);
      case ScalarOp::eq:
      case ScalarOp::ne:
      case ScalarOp::lt:
      case ScalarOp::le:
      case ScalarOp::gt:
      case ScalarOp::ge:
        return comparison(f_, op, dtype_, x[0], x[1]);
      case ScalarOp::logical_and:
      case ScalarOp::bit_and:
        return ir.CreateAnd(x[0], x[1]);
      case ScalarOp::logical_or:
      case ScalarOp::bit_or:
        return ir.CreateOr(x[0], x[1]);
      case ScalarOp::bit_xor:
        return ir.CreateXor(x[0], x[1]);
      case ScalarOp::left_shift:
      case ScalarOp::right_shift:
        return shift(op == ScalarOp::left_shift, x[0], x[1]);
      case ScalarOp::select:
        return ir.CreateSelect(x[0], x[1], x[2]);
      default:
        throw std::logic_error("code generation: no instructions for a body");
    }
  }

  IrValue of_floats(ScalarOp op, const std::vector<IrValue>& x) {
    if (op == ScalarOp::div) return ir.CreateFDiv(x[0], x[1]);
    return library(f_, op == ScalarOp::mod ? "fmod" : "pow", dtype_, x);
  }

  IrValue of_integers(ScalarOp op, IrValue a, IrValue b) {
    if (op == ScalarOp::pow) return integer_power(f_, dtype_, a, b);
    return division(f_, op == ScalarOp::mod, dtype_, value_, a, b);
  }

  IrValue sign(IrValue x) {
    auto* zero = llvm::Constant::getNullValue(type_);
    if (!is_real()) {
      IrValue below = has_sign() ? ir.CreateAShr(x, type_->getScalarSizeInBits() - 1) : zero;
      IrValue above = comparison(f_, ScalarOp::gt, dtype_, x, zero);
      return ir.CreateSelect(above, llvm::ConstantInt::get(type_, 1), below);
    }
    IrValue below = ir.CreateSelect(ir.CreateFCmpOLT(x, zero), llvm::ConstantFP::get(type_, -1), zero);
    IrValue sign = ir.CreateSelect(ir.CreateFCmpOGT(x, zero), llvm::ConstantFP::get(type_, 1), below);
    return ir.CreateSelect(ir.CreateFCmpUNO(x, x), x, sign);
  }

  // A negative distance counts as a large one, because it is compared as unsigned.
  IrValue shift(bool left, IrValue x, IrValue by) {
    const unsigned bits = type_->getScalarSizeInBits();
    IrValue within = ir.CreateICmpULT(by, llvm::ConstantInt::get(type_, bits));
    auto* zero = llvm::ConstantInt::get(type_, 0);
    IrValue distance = ir.CreateSelect(within, by, zero);
    if (left) return ir.CreateSelect(within, ir.CreateShl(x, distance), zero);
    if (!has_sign()) return ir.CreateSelect(within, ir.CreateLShr(x, distance), zero);
    IrValue all_sign = ir.CreateAShr(x, bits - 1);
    return ir.CreateSelect(within, ir.CreateAShr(x, distance), all_sign);
  }

  Function& f_;
  llvm::IRBuilder<>& ir;
  DType dtype_;
  ValueId value_;
  llvm::Type* type_;
};

}  // namespace

IrValue spell(Function& f, scalar::Term (*body)(std::span<const scalar::Term>), DType dtype, ValueId v,
              const std::vector<IrValue>& x) {
  Instructions instructions(f, dtype, v, x[0]->getType());
  std::vector<scalar::Term> terms;
  for (IrValue operand : x) terms.push_back(instructions.term(operand));
  return Instructions::code(body(terms));
}

IrValue extremum(Function& f, bool maximum, DType dtype, IrValue a, IrValue b) {
  Instructions instructions(f, dtype, {}, a->getType());
  const scalar::Term x = instructions.term(a), y = instructions.term(b);
  return Instructions::code(maximum ? scalar::Maximum{}(x, y) : scalar::Minimum{}(x, y));
}

}  // namespace rml::codegen
