// Reductions: one walk over the operand, the result a view with stride 0 along the axes that
// are reduced.
//
// Elements that go into one result are combined in row-major order. The result starts as
// what leaves the first element as it is (-0.0 for sums of floats, 1 for products, the infinities for
// the extrema), so no first iteration is peeled. The operand may be an inlined value, which is
// then computed inside the walk: sum(x * x) stores no x * x.
#include <limits>

#include "lowering/llvm/body.h"

namespace rml::codegen {

namespace {
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
}  // namespace

IrValue Body::combine(Lowering lowering, DType dtype, IrValue a, IrValue b) {
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

void Body::reduce(ValueId v, const core::Apply& apply, Lowering lowering) {
  const Shape& shape = info(apply.operands[0]).shape;
  const std::vector<bool> reduced = *reduced_axes(apply.attributes[0], shape.size());
  Strides to(shape.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t k = shape.size(); k-- > 0;) {
    if (reduced[k]) continue;
    to[k] = stride;
    stride *= shape[k];
  }
  reduction(v, apply.operands[0], lowering, {to});
}

void Body::sum_to(ValueId v, const core::Apply& apply) {
  const ValueId x = apply.operands[0];
  reduction(v, x, Lowering::reduce_sum, {broadcast_strides(info(v).shape, info(x).shape)});
}

void Body::reduction(ValueId v, ValueId x, Lowering lowering, const std::vector<Strides>& to) {
  const DType dtype = info(v).dtype;
  const Shape& shape = info(x).shape;
  llvm::Type* type = register_type(module.context, dtype);
  const std::int64_t results = elements(info(v).shape), count = results == 0 ? 0 : elements(shape) / results;
  const Expression e = expression(x, module.inlined(x));
  const bool unrolled = elements(shape) <= small_elements && small(v);
  const std::vector<Access> access =
      small(v) ? std::vector<Access>(e.leaves.size() + 1) : separate(e.leaves.size() + 1);
  IrValue base = result(v);
  const auto each_result = [&](const std::function<IrValue(IrValue)>& f) {
    walk({results}, {{1}}, small(v), [&](const std::vector<IrValue>& at) {
      IrValue place = offset(dtype, base, at[0]);
      store(dtype, f(place), place);
    });
  };
  each_result([&](IrValue) {
    const bool zero = count == 0 && (lowering == Lowering::reduce_sum || lowering == Lowering::reduce_mean);
    return zero ? llvm::Constant::getNullValue(type) : neutral(lowering, dtype, type);
  });
  std::vector<Strides> views = leaf_views(e);
  views.insert(views.begin(), to[0]);
  walk(shape, views, unrolled, [&](const std::vector<IrValue>& at) {
    IrValue place = offset(dtype, base, at[0]);
    IrValue element = evaluate(e, at, access);
    IrValue so_far = load(dtype, place, access[0]);
    store(dtype, combine(lowering, dtype, so_far, element), place, access[0]);
  });
  if (lowering != Lowering::reduce_mean) return;
  each_result([&](IrValue place) {
    return ir.CreateFDiv(load(dtype, place), llvm::ConstantFP::get(type, static_cast<double>(count)));
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
  walk({before, after}, {{after, 1}, {searched * after, 1}}, elements(shape) <= small_elements,
       [&](const std::vector<IrValue>& at) {
         ir.CreateStore(ir.getInt32(0), best);
         ir.CreateStore(element(x, at[1]), extreme);
         walk({searched - 1}, {{1}, {after}}, elements(shape) <= small_elements, [&](const std::vector<IrValue>& i) {
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
