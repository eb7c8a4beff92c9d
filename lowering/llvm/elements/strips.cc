// Emits reductions in strips of adjacent columns, each with a sum in registers.
#include "lowering/llvm/elements/strips.h"

#include <algorithm>

#include "lowering/llvm/elements/reduction.h"
#include "lowering/llvm/function/vectors.h"

namespace rml::codegen {

// Applies to reductions that keep the last axis, which must not be long, and perhaps axes before the reduced ones. They
// are computed for some columns at a time, so that the sums stay in registers. The columns after the widest strips are
// computed in narrower ones.
Strips find_strips(const Function& f, const std::vector<ValueId>& members, const Shape& shape,
                   const std::vector<Strides>& views) {
  if (shape.size() < 2 || f.small(shape)) return {};
  std::int64_t reductions = 0;
  std::size_t kept = 0;  // axes before the reduced ones
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
  const std::int64_t most = f.module.target.strip_vectors(reductions) * vector;
  std::int64_t width = most;
  while (width > vector && columns % width != 0) width /= 2;
  if (columns % width == 0) return {kept, width};
  return columns < most ? Strips{} : Strips{kept, most};
}

namespace {

// Neighbouring strips of one width.
struct Piece {
  std::int64_t first_column, width, count;
};

// Divides all columns into strips whose width is halved down to a vector; the last strip has the remaining columns.
std::vector<Piece> pieces_of(std::int64_t columns, std::int64_t width, std::int64_t vector) {
  std::vector<Piece> pieces;
  for (std::int64_t done = 0; done < columns; width = std::max(width / 2, vector)) {
    const std::int64_t left = columns - done, size = left < vector ? left : width;
    if (size > left) continue;
    pieces.push_back({done, size, left / size});
    done += left / size * size;
  }
  return pieces;
}

void in_strips_of(Function& f, Piece piece, std::size_t kept, const std::vector<ValueId>& members, const Shape& shape,
                  const std::vector<Strides>& views, const std::vector<IrValue>& to, Work each, const LoopBody& body) {
  auto& ir = f.ir;
  const std::int64_t width = piece.width;
  const auto front = static_cast<std::ptrdiff_t>(kept);
  std::vector<Strides> across, along;
  for (const Strides& view : views) {
    across.emplace_back(view.begin(), view.begin() + front);
    across.back().push_back(view.back() * width);
    along.emplace_back(view.begin() + front, view.end());
  }
  Shape all(shape.begin(), shape.begin() + front), strip(shape.begin() + front, shape.end());
  all.push_back(piece.count);
  strip.back() = width;
  const auto calls = static_cast<double>(elements(strip));
  each = {each.written, each.nanoseconds * calls, 1, each.least / calls};
  walk(f, all, across, false, each, [&](std::vector<IrValue> begin) {
    for (std::size_t k = 0; k < begin.size(); ++k)
      begin[k] = strided(f, begin[k], f.constant(piece.first_column), views[k].back());
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

}  // namespace

void in_strips(Function& f, Strips found, const std::vector<ValueId>& members, const Shape& shape,
               const std::vector<Strides>& views, const std::vector<IrValue>& to, Work each, const LoopBody& body) {
  for (const Piece& piece : pieces_of(shape.back(), found.width, f.lanes(f.info(members[0]).dtype)))
    in_strips_of(f, piece, found.kept, members, shape, views, to, each, body);
}

}  // namespace rml::codegen
