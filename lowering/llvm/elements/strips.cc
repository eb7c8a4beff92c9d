// Strips: columns side by side, each with a sum in registers.
#include "lowering/llvm/elements/strips.h"

#include "lowering/llvm/elements/reduction.h"

namespace rml::codegen {

// Reductions that keep the last axis, which is not long, and some before those that they reduce, are computed for some
// columns at a time, so that their sums stay in registers.
Strips find_strips(const Function& f, const std::vector<ValueId>& members, const Shape& shape,
                   const std::vector<Strides>& views) {
  if (shape.size() < 2 || f.small(shape)) return {};
  std::int64_t reductions = 0;
  std::size_t kept = 0;  // axes in front
  for (std::size_t k = 0; k < members.size(); ++k) {
    if (!reduces(f.info(members[k]))) continue;
    if (views[k].back() != 1 || !is_float(f.info(members[k]).dtype)) return {};
    std::size_t front = 0;
    while (front + 1 < shape.size() && views[k][front] != 0) ++front;
    for (std::size_t axis = front; axis + 1 < shape.size(); ++axis)
      if (views[k][axis] != 0) return {};
    if (front + 1 == shape.size() || (reductions++ > 0 && front != kept)) return {};
    kept = front;
  }
  const std::int64_t vector = f.lanes(f.info(members[0]).dtype), columns = shape.back();
  if (reductions == 0 || vector == 1 || columns > f.module.target.longest_strip) return {};
  std::int64_t width = f.module.target.strip_vectors(reductions) * vector;
  while (width > vector && columns % width != 0) width /= 2;
  return columns % width == 0 ? Strips{kept, width} : Strips{};
}

void in_strips(Function& f, Strips found, const std::vector<ValueId>& members, const Shape& shape,
               const std::vector<Strides>& views, const std::vector<IrValue>& to, Work each, const LoopBody& body) {
  auto& ir = f.ir;
  const auto [kept, width] = found;
  const auto front = static_cast<std::ptrdiff_t>(kept);
  std::vector<Strides> across, along;
  for (const Strides& view : views) {
    across.emplace_back(view.begin(), view.begin() + front);
    across.back().push_back(view.back() * width);
    along.emplace_back(view.begin() + front, view.end());
  }
  Shape all(shape.begin(), shape.begin() + front), strip(shape.begin() + front, shape.end());
  all.push_back(shape.back() / width);
  strip.back() = width;
  const auto calls = static_cast<double>(elements(strip));
  each = {each.written, each.nanoseconds * calls, 1, each.least / calls};
  walk(f, all, across, false, each, [&](const std::vector<IrValue>& begin) {
    std::vector<IrValue> places = to;
    for (std::size_t k = 0; k < members.size(); ++k) {
      if (!reduces(f.info(members[k]))) continue;
      const auto size = static_cast<std::uint64_t>(width);
      places[k] =
          f.variable(llvm::ArrayType::get(memory_type(f.module.context, f.info(members[k]).dtype), size), "sums");
    }
    const auto each_sum = [&](bool out) {
      for (std::size_t k = 0; k < members.size(); ++k) {
        if (!reduces(f.info(members[k]))) continue;
        const DType dtype = f.info(members[k]).dtype;
        walk(f, {width}, {{1}}, false, [&](const std::vector<IrValue>& j) {
          IrValue sum = f.offset(dtype, places[k], j[0]);
          IrValue result = f.offset(dtype, f.offset(dtype, to[k], begin[k]), j[0]);
          if (out)
            f.store(dtype, f.load(dtype, sum), result);
          else
            f.store(dtype, f.load(dtype, result), sum);
        });
      }
    };
    each_sum(false);
    walk(f, strip, along, false, [&](const std::vector<IrValue>& inside) {
      std::vector<IrValue> offsets = inside;
      for (std::size_t k = 0; k < offsets.size(); ++k)
        if (k >= members.size() || !reduces(f.info(members[k])))
          offsets[k] = ir.CreateAdd(begin[k], inside[k], "", true, true);
      body(places, offsets);
    });
    each_sum(true);
  });
}

}  // namespace rml::codegen
