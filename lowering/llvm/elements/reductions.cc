// Reductions: one walk over the operand, the result a view with stride 0 along the axes that
// are reduced.
//
// Elements that go into one result are combined in row-major order; floats of a row in lanes (sums.cc), unless
// strict_math asks for the order as well. The result starts as what leaves the first element as it is (-0.0 for sums of
// floats, 1 for products, the infinities for the extrema), so no first iteration is peeled.
#include <limits>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

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

IrValue Body::combined(Lowering lowering, DType dtype, IrValue a, IrValue b) {
  switch (lowering) {
    case Lowering::reduce_min:
    case Lowering::reduce_max:
      return extremum(lowering == Lowering::reduce_max, dtype, a, b);
    case Lowering::reduce_prod:
      return multiply(dtype, a, b);
    case Lowering::reduce_all:
      return ir.CreateAnd(a, b);
    case Lowering::reduce_any:
      return ir.CreateOr(a, b);
    default:
      return add(dtype, a, b);
  }
}

// Where an element of the operand goes.
Strides Body::reduced_view(ValueId v) const {
  const auto& apply = std::get<core::Apply>(info(v).rhs);
  const Shape& shape = info(apply.operands[0]).shape;
  if (operators()[apply.op].lowering == Lowering::sum_to) return broadcast_strides(info(v).shape, shape);
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

Lowering reduction_of(const Value& v) {
  const Lowering l = operators()[std::get<core::Apply>(v.rhs).op].lowering;
  return l == Lowering::sum_to ? Lowering::reduce_sum : l;
}

void Body::each_result(ValueId v, IrValue base, const std::function<IrValue(IrValue)>& f) {
  const DType dtype = info(v).dtype;
  walk({elements(info(v).shape)}, {{1}}, small(v), [&](const std::vector<IrValue>& at) {
    IrValue place = offset(dtype, base, at[0]);
    store(dtype, f(place), place);
  });
}

std::int64_t Body::reduced_count(ValueId v) const {
  const std::int64_t results = elements(info(v).shape);
  return results == 0 ? 0 : elements(info(std::get<core::Apply>(info(v).rhs).operands[0]).shape) / results;
}

void Body::begin_reduction(ValueId v, IrValue base) {
  llvm::Type* type = register_type(module.context, info(v).dtype);
  auto* zero = llvm::Constant::getNullValue(type);
  const Lowering lowering = reduction_of(info(v));
  const bool none = reduced_count(v) == 0 && (lowering == Lowering::reduce_sum || lowering == Lowering::reduce_mean);
  auto* start = none ? zero : neutral(lowering, info(v).dtype, type);
  each_result(v, base, [&](IrValue) { return start; });
}

void Body::combine(ValueId v, IrValue element, IrValue place, Access access) {
  const DType dtype = info(v).dtype;
  const Lowering lowering = reduction_of(info(v));
  IrValue so_far = load(dtype, place, access);
  store(dtype, combined(lowering, dtype, so_far, element), place, access);
}

void Body::end_reduction(ValueId v, IrValue base) {
  if (reduction_of(info(v)) != Lowering::reduce_mean) return;
  llvm::Type* type = register_type(module.context, info(v).dtype);
  each_result(v, base, [&](IrValue place) {
    return ir.CreateFDiv(load(info(v).dtype, place),
                         llvm::ConstantFP::get(type, static_cast<double>(reduced_count(v))));
  });
}

// The first extremum or, with `last`, the last, or NaN so; the operand seen as [before, searched, after].
void Body::extremum_place(ValueId v, const core::Apply& apply, bool maximum) {
  const ValueId x = apply.operands[0];
  prepare(x);
  const DType dtype = info(x).dtype;
  const Shape& shape = info(x).shape;
  if (elements(info(v).shape) == 0) return;
  std::int64_t searched = elements(shape), after = 1;
  if (apply.attributes[0].given) {
    const std::size_t axis = *normalized_axis(apply.attributes[0].integers[0], shape.size());
    searched = shape[axis];
    for (std::size_t k = axis + 1; k < shape.size(); ++k) after *= shape[k];
  }
  const std::int64_t before = elements(info(v).shape) / after;
  llvm::Type* type = register_type(module.context, dtype);
  auto* best = variable(module.i32(), "best");
  auto* extreme = variable(type, "extreme");
  IrValue to = result(v);
  const bool last = apply.attributes[2].integers[0] != 0;
  const ScalarOp before_others =
      last ? (maximum ? ScalarOp::ge : ScalarOp::le) : (maximum ? ScalarOp::gt : ScalarOp::lt);
  const auto better = [&](IrValue candidate, IrValue so_far) -> IrValue {
    IrValue wins = comparison(before_others, dtype, candidate, so_far);
    if (!is_float(dtype)) return wins;
    IrValue nan = ir.CreateFCmpUNO(candidate, candidate);
    if (last) return ir.CreateOr(wins, nan);  // of a NaN and a number none goes before the other
    return ir.CreateAnd(ir.CreateOr(wins, nan), ir.CreateFCmpORD(so_far, so_far));
  };
  walk({before, after}, {{after, 1}, {searched * after, 1}}, small(shape), [&](const std::vector<IrValue>& at) {
    ir.CreateStore(ir.getInt32(0), best);
    ir.CreateStore(element(x, at[1]), extreme);
    walk({searched - 1}, {{1}, {after}}, small(shape), [&](const std::vector<IrValue>& i) {
      IrValue candidate = element(x, ir.CreateAdd(at[1], ir.CreateAdd(i[1], constant(after))));
      IrValue so_far = ir.CreateLoad(type, extreme);
      IrValue wins = better(candidate, so_far);
      IrValue here = ir.CreateIntCast(ir.CreateAdd(i[0], constant(1)), module.i32(), false);
      ir.CreateStore(ir.CreateSelect(wins, here, ir.CreateLoad(module.i32(), best)), best);
      ir.CreateStore(ir.CreateSelect(wins, candidate, so_far), extreme);
    });
    store(DType::i32, ir.CreateLoad(module.i32(), best), offset(DType::i32, to, at[0]));
  });
}

}  // namespace rml::codegen
