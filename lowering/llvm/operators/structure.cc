// Operators that move elements: strided copies between dense tensors, and the choice of the
// generator for every row of the operator table.
//
// A transpose, slice, concat, broadcast is a walk over the shape that is copied with one
// view of the result and one of the operand; a reshape of a large tensor is its address, and so is what an
// index leads to.
#include <stdexcept>

#include "lowering/llvm/function/function.h"
#include "runtime/base/rmlrt.h"

namespace rml::codegen {

void Body::compute(ValueId v) {
  const core::Rhs& rhs = info(v).rhs;
  if (const auto* operation = std::get_if<core::Apply>(&rhs)) return apply(v, *operation);
  if (const auto* external = std::get_if<core::Call>(&rhs)) return call(v, *external);
  // A constant is used where it is needed, and a result is there once its call is computed.
  if (std::holds_alternative<core::Const>(rhs) || std::holds_alternative<core::Result>(rhs)) return;
  throw std::logic_error("code generation: %" + std::to_string(v.index) + " is not computed but loaded");
}

void Body::apply(ValueId v, const core::Apply& a) {
  const OperatorInfo& row = operators()[a.op];
  switch (row.lowering) {
    case Lowering::elementwise:
    case Lowering::outer:
    case Lowering::transpose:
    case Lowering::slice:
    case Lowering::broadcast:
    case Lowering::fill:
      return pointwise(v);
    case Lowering::matmul:
    case Lowering::dot:
      return matmul(v, a.operands[0], a.operands[1]);
    case Lowering::reshape:
      return reshape(v, a.operands[0]);
    case Lowering::concat:
      return concat(v, a);
    case Lowering::array:
      return array(v, a);
    case Lowering::index:
      return index(v, a);
    case Lowering::reduce_sum:
    case Lowering::reduce_mean:
    case Lowering::reduce_min:
    case Lowering::reduce_max:
    case Lowering::reduce_prod:
    case Lowering::reduce_all:
    case Lowering::reduce_any:
    case Lowering::sum_to:
      return loops({v});
    case Lowering::argmax:
      return extremum_place(v, a, true);
    case Lowering::argmin:
      return extremum_place(v, a, false);
    case Lowering::iota:
      return iota(v);
    case Lowering::one_hot:
      return one_hot(v, a.operands[0]);
    case Lowering::random:
      return random(v, a);
    case Lowering::kernel:
      return windows(v, a) ? void() : kernel(v, a);
    case Lowering::parameter:
      return parameter(v, a.operands[0]);
    case Lowering::place:
      return place(v, a);
    case Lowering::place_slice:
      return place_slice(v, a);
    case Lowering::move:
      return move(v, a);
    case Lowering::sum_moves:
      return sum_moves(v, a);
    case Lowering::contraction:
    case Lowering::folded:
    case Lowering::expanded:
      break;
  }
  throw std::logic_error("code generation: " + std::string(row.name) + " should have been folded");
}

void Body::copy_strided(const Shape& shape, DType dtype, IrValue to, IrValue to_offset, const Strides& to_strides,
                        ValueId from, IrValue from_offset, const Strides& from_strides) {
  const bool unrolled = small(shape);
  const std::vector<Access> access = unrolled ? std::vector<Access>(2) : separate(2);
  const Work work{1, 2 * module.target.costs.byte * static_cast<double>(byte_size(dtype)),
                  module.target.elements_together};
  walk(shape, {to_strides, from_strides}, unrolled, work, [&](const std::vector<IrValue>& at) {
    IrValue value = element(from, ir.CreateAdd(from_offset, at[1], "", true, true), access[1]);
    store(dtype, value, offset(dtype, to, ir.CreateAdd(to_offset, at[0], "", true, true)), access[0]);
  });
}

void Body::fill_zero(ValueId v, IrValue to) {
  const DType dtype = info(v).dtype;
  if (!small(v)) {
    ir.CreateMemSet(to, ir.getInt8(0), bytes(dtype, info(v).shape), llvm::Align(byte_size(dtype)));
    return;
  }
  auto* zero = llvm::Constant::getNullValue(memory_type(module.context, dtype));
  for (std::int64_t i = 0; i < elements(info(v).shape); ++i) {
    ir.CreateAlignedStore(zero, offset(dtype, to, constant(i)), llvm::Align(byte_size(dtype)));
  }
}

void Body::reshape(ValueId v, ValueId x) {
  prepare(x);
  if (!small(v)) return define_at(v, address(x));
  IrValue to = result(v);
  for (std::int64_t i = 0; i < elements(info(v).shape); ++i) {
    store(info(v).dtype, element(x, constant(i)), offset(info(v).dtype, to, constant(i)));
  }
}

// Copies x, or computes it if it is inlined, to where it begins in v.
void Body::copy_into(ValueId v, IrValue to, std::int64_t begin, const Strides& to_strides, ValueId x) {
  const Shape& shape = info(x).shape;
  const Expression e = expression(x, module.inlined(x));
  const bool unrolled = small(shape);
  const std::size_t count = e.leaves.size() + 1;
  const std::vector<Access> access = unrolled ? std::vector<Access>(count) : separate(count);
  std::vector<Strides> views = leaf_views(e);
  views.insert(views.begin(), to_strides);
  IrValue base = offset(info(v).dtype, to, constant(begin));
  walk(shape, views, unrolled, work(e, 1), [&](const std::vector<IrValue>& at) {
    IrValue value = evaluate(e, std::span(at).subspan(1), std::span(access).subspan(1)).back();
    store(info(v).dtype, value, offset(info(v).dtype, base, at[0]), access[0]);
  });
}

// The new rows, twice, and the place where all begin.
void Body::move_window(ValueId v, const steps::Window& w) {
  const Shape& shape = info(v).shape;
  const std::uint64_t offset = module.layout.cells[w.cell.index];
  const auto all = static_cast<std::int64_t>(bytes(info(v).dtype, shape)), moved = all / shape[0] * w.rows;
  IrValue data = at(offset + sizeof(rml_window)), before = load_i64(offset), now = nullptr;
  const auto number = [&](std::int64_t n) { return ir.getInt64(static_cast<std::uint64_t>(n)); };
  const auto place = [&](IrValue bytes) { return ir.CreateInBoundsGEP(ir.getInt8Ty(), data, bytes); };
  if (w.newest_first) {
    IrValue wraps = ir.CreateICmpEQ(before, number(0));
    now = ir.CreateSub(ir.CreateSelect(wraps, number(all), before), number(moved), "now", true, true);
  } else {
    IrValue next = ir.CreateAdd(before, number(moved), "", true, true);
    now = ir.CreateSelect(ir.CreateICmpEQ(next, number(all)), number(0), next, "now");
  }
  IrValue entering = w.newest_first ? now : before;
  copy_into(v, place(entering), 0, dense_strides(shape), w.entering);
  const llvm::Align align(byte_size(info(v).dtype));
  ir.CreateMemCpy(place(ir.CreateAdd(entering, number(all), "", true, true)), align, place(entering), align,
                  static_cast<std::uint64_t>(moved));
  store_i64(now, offset);
  define_at(v, place(now));
}

void Body::concat(ValueId v, const core::Apply& a) {
  if (const auto window = module.windows.find(v); window != module.windows.end()) return move_window(v, window->second);
  const std::size_t axis = *normalized_axis(a.attributes[0].integers[0], info(v).shape.size());
  const Strides to = dense_strides(info(v).shape);
  IrValue base = result(v);
  std::int64_t begin = 0;
  for (const ValueId x : a.operands) {
    copy_into(v, base, begin * to[axis], to, x);
    begin += info(x).shape[axis];
  }
}

void Body::array(ValueId v, const core::Apply& a) {
  IrValue base = result(v);
  std::int64_t begin = 0;
  for (const ValueId x : a.operands) {
    copy_into(v, base, begin, dense_strides(info(x).shape), x);
    begin += elements(info(x).shape);
  }
}

namespace {
// Where sliced elements lie in the whole.
std::pair<std::int64_t, Strides> sliced(const Shape& whole, std::span<const Attribute> bounds) {
  const auto ranges = std::get<0>(slice_ranges(whole, bounds));
  Strides strides = dense_strides(whole);
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    offset += ranges[axis].start * strides[axis];
    strides[axis] *= ranges[axis].step;
  }
  return {offset, strides};
}
}  // namespace

void Body::place_slice(ValueId v, const core::Apply& a) {
  const ValueId x = a.operands[0];
  prepare(x);
  const auto [offset, strides] = sliced(info(v).shape, std::span(a.attributes).subspan(1));
  IrValue to = result(v);
  fill_zero(v, to);
  const Shape& shape = info(x).shape;
  copy_strided(shape, info(v).dtype, to, constant(offset), strides, x, constant(0), dense_strides(shape));
}

// The offset, in elements, of whole[operands[1], operands[2], …], each checked.
IrValue Body::checked_offset(ValueId v, const Shape& whole, const std::vector<ValueId>& operands) {
  const Strides strides = dense_strides(whole);
  IrValue offset = ir.getInt64(0);
  for (std::size_t k = 1; k < operands.size(); ++k) {
    const DType dtype = info(operands[k]).dtype;
    IrValue at = ir.CreateIntCast(scalar(operands[k]), module.i64(), is_signed(dtype));
    auto* extent = ir.getInt64(static_cast<std::uint64_t>(whole[k - 1]));
    check(ir.CreateICmpUGE(at, extent), RML_FAULT_INDEX, module.site(v), at, extent);
    offset =
        ir.CreateAdd(offset, ir.CreateMul(at, ir.getInt64(static_cast<std::uint64_t>(strides[k - 1])), "", true, true),
                     "", true, true);
  }
  return ir.CreateIntCast(offset, module.index_type(), true);
}

void Body::index(ValueId v, const core::Apply& a) {
  const ValueId x = a.operands[0];
  prepare(x);
  IrValue from = checked_offset(v, info(x).shape, a.operands);
  if (!small(v)) return define_at(v, offset(info(x).dtype, address(x), from));
  const Shape& shape = info(v).shape;
  copy_strided(shape, info(v).dtype, result(v), constant(0), dense_strides(shape), x, from, dense_strides(shape));
}

void Body::place(ValueId v, const core::Apply& a) {
  const ValueId x = a.operands[0];
  prepare(x);
  IrValue at = checked_offset(v, info(v).shape, a.operands);
  IrValue to = result(v);
  fill_zero(v, to);
  const Shape& shape = info(x).shape;
  copy_strided(shape, info(v).dtype, to, at, dense_strides(shape), x, constant(0), dense_strides(shape));
}

void Body::iota(ValueId v) {
  IrValue to = result(v);
  walk(info(v).shape, {{1}}, small(v), [&](const std::vector<IrValue>& at) {
    store(DType::i32, ir.CreateIntCast(at[0], module.i32(), true), offset(DType::i32, to, at[0]));
  });
}

void Body::one_hot(ValueId v, ValueId at) {
  prepare(at);
  const DType dtype = info(v).dtype;
  const std::int64_t depth = info(v).shape.back(), count = elements(info(at).shape);
  llvm::Type* type = register_type(module.context, dtype);
  auto* one =
      is_float(dtype) ? static_cast<llvm::Constant*>(llvm::ConstantFP::get(type, 1)) : llvm::ConstantInt::get(type, 1);
  IrValue to = result(v);
  const std::vector<Access> access = small(v) ? std::vector<Access>(2) : separate(2);
  walk({count, depth}, {{depth, 1}, {1, 0}, {0, 1}}, small(v), [&](const std::vector<IrValue>& i) {
    IrValue hot = ir.CreateIntCast(element(at, i[1], info(at).shape.empty() ? Access{} : access[1]), module.i64(),
                                   is_signed(info(at).dtype));
    IrValue here = ir.CreateIntCast(i[2], module.i64(), false);
    store(dtype, ir.CreateSelect(ir.CreateICmpEQ(hot, here), one, llvm::Constant::getNullValue(type)),
          offset(dtype, to, i[0]), access[0]);
  });
}

}  // namespace rml::codegen
