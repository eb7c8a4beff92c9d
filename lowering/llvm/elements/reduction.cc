// Emits reductions: one walk over the operand. The result is a view with stride 0 along the reduced axes.
//
// The elements of one result are combined in row-major order; floats of a row are combined in lanes (sums.cc), unless
// strict_math also requires the order. The result starts as the neutral element, which leaves the first element
// unchanged (-0.0 for sums of floats, 1 for products, the infinities for extrema), so no first iteration is peeled.
#include "lowering/llvm/elements/reduction.h"

#include <limits>

#include "lowering/llvm/scalars/arithmetic.h"
#include "lowering/llvm/scalars/spell.h"

namespace rml::codegen {

bool reduces(const Value& v) { return is_reduction(operators()[std::get<core::Apply>(v.rhs).op].lowering); }

Lowering reduction_of(const Value& v) {
  const Lowering l = operators()[std::get<core::Apply>(v.rhs).op].lowering;
  return l == Lowering::sum_to ? Lowering::reduce_sum : l;
}

llvm::Constant* neutral(Lowering lowering, DType dtype, llvm::Type* type) {
  const bool smallest = lowering == Lowering::reduce_max;
  if (lowering == Lowering::reduce_prod && is_float(dtype)) return llvm::ConstantFP::get(type, 1);
  if (lowering == Lowering::reduce_prod || lowering == Lowering::reduce_all) return llvm::ConstantInt::get(type, 1);
  if (lowering != Lowering::reduce_min && lowering != Lowering::reduce_max) {
    return is_float(dtype) ? llvm::ConstantFP::getNegativeZero(type) : llvm::Constant::getNullValue(type);
  }
  if (is_float(dtype)) return llvm::ConstantFP::getInfinity(type, smallest);
  const unsigned bits = type->getIntegerBitWidth();
  const llvm::APInt edge =
      is_signed(dtype) ? (smallest ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getSignedMaxValue(bits))
                       : (smallest ? llvm::APInt::getZero(bits) : llvm::APInt::getMaxValue(bits));
  return llvm::ConstantInt::get(type->getContext(), edge);
}

// The view through which an element of the operand reaches its result.
Strides reduced_view(const Function& f, ValueId v) {
  const auto& apply = std::get<core::Apply>(f.info(v).rhs);
  const Shape& shape = f.info(apply.operands[0]).shape;
  if (operators()[apply.op].lowering == Lowering::sum_to) return broadcast_strides(f.info(v).shape, shape);
  const std::vector<bool> reduced = *reduced_axes(apply.attributes[0], shape.size());
  Strides to(shape.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t k = shape.size(); k-- > 0;) {
    if (reduced[k]) continue;
    to[k] = stride;
    stride *= shape[k];
  }
  return to;
}

IrValue combined(Function& f, Lowering lowering, DType dtype, IrValue a, IrValue b) {
  auto& ir = f.ir;
  switch (lowering) {
    case Lowering::reduce_min:
    case Lowering::reduce_max:
      return extremum(f, lowering == Lowering::reduce_max, dtype, a, b);
    case Lowering::reduce_prod:
      return multiply(f, dtype, a, b);
    case Lowering::reduce_all:
      return ir.CreateAnd(a, b);
    case Lowering::reduce_any:
      return ir.CreateOr(a, b);
    default:
      return add(f, dtype, a, b);
  }
}

namespace {

void each_result(Function& f, ValueId v, IrValue base, const std::function<IrValue(IrValue)>& change) {
  const DType dtype = f.info(v).dtype;
  walk(f, {elements(f.info(v).shape)}, {{1}}, f.small(v), [&](const std::vector<IrValue>& at) {
    IrValue place = f.offset(dtype, base, at[0]);
    f.store(dtype, change(place), place);
  });
}

std::int64_t reduced_count(const Function& f, ValueId v) {
  const std::int64_t results = elements(f.info(v).shape);
  return results == 0 ? 0 : elements(f.info(std::get<core::Apply>(f.info(v).rhs).operands[0]).shape) / results;
}

}  // namespace

void begin_reduction(Function& f, ValueId v, IrValue base) {
  llvm::Type* type = register_type(f.module.context, f.info(v).dtype);
  auto* zero = llvm::Constant::getNullValue(type);
  const Lowering lowering = reduction_of(f.info(v));
  const bool none = reduced_count(f, v) == 0 && (lowering == Lowering::reduce_sum || lowering == Lowering::reduce_mean);
  auto* start = none ? zero : neutral(lowering, f.info(v).dtype, type);
  each_result(f, v, base, [&](IrValue) { return start; });
}

void combine(Function& f, ValueId v, IrValue element, IrValue place, Access access) {
  const DType dtype = f.info(v).dtype;
  const Lowering lowering = reduction_of(f.info(v));
  IrValue so_far = f.load(dtype, place, access);
  f.store(dtype, combined(f, lowering, dtype, so_far, element), place, access);
}

void end_reduction(Function& f, ValueId v, IrValue base) {
  auto& ir = f.ir;
  if (reduction_of(f.info(v)) != Lowering::reduce_mean) return;
  llvm::Type* type = register_type(f.module.context, f.info(v).dtype);
  each_result(f, v, base, [&](IrValue place) {
    return ir.CreateFDiv(f.load(f.info(v).dtype, place),
                         llvm::ConstantFP::get(type, static_cast<double>(reduced_count(f, v))));
  });
}

}  // namespace rml::codegen
