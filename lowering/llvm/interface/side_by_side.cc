// Transposes squares of elements in registers, with one row per lane. The last elements use narrower squares:
//
//   lane 0  a0 a1 | a2        a0 b0 c0 d0
//   lane 1  b0 b1 | b2        a1 b1 c1 d1
//   lane 2  c0 c1 | c2   =>   a2 b2 c2 d2
//   lane 3  d0 d1 | d2
#include "lowering/llvm/interface/side_by_side.h"

#include <algorithm>
#include <bit>

#include "lowering/llvm/function/vectors.h"

namespace rml::codegen {

namespace {

struct Squares {
  Function& f;
  const ElementsOfLanes& e;
  const unsigned lanes = static_cast<unsigned>(e.own.size());
  const llvm::Align align = llvm::Align(e.bytes);

  llvm::FixedVectorType* vector(unsigned of) const { return llvm::FixedVectorType::get(e.type, of); }
  // Inserts `width` elements into a row from `lane` on; a vector of one element is a scalar.
  void put_in(IrValue& row, unsigned lane, unsigned width, IrValue from) const;
  IrValue taken_from(IrValue row, unsigned lane, unsigned width) const;
  // Transposes `width` elements of each lane from element `first` (i64) on; `width` is a power of two.
  void transpose(IrValue first, unsigned width, bool back) const;
  void all(bool back) const;
};

void Squares::put_in(IrValue& row, unsigned lane, unsigned width, IrValue from) const {
  auto& ir = f.ir;
  IrValue loaded = ir.CreateAlignedLoad(width == 1 ? e.type : vector(width), from, align);
  if (width == 1) {
    row = ir.CreateInsertElement(row, loaded, lane);
  } else if (width == lanes) {
    row = loaded;
  } else {
    std::vector<int> longer(lanes, -1), both;
    for (unsigned k = 0; k < lanes; ++k) {
      if (k < width) longer[k] = static_cast<int>(k);
      both.push_back(static_cast<int>(k >= lane && k < lane + width ? lanes + k - lane : k));
    }
    row = ir.CreateShuffleVector(row, ir.CreateShuffleVector(loaded, longer), both);
  }
}

IrValue Squares::taken_from(IrValue row, unsigned lane, unsigned width) const {
  if (width == 1) return f.ir.CreateExtractElement(row, lane);
  std::vector<int> taken;
  for (unsigned k = 0; k < width; ++k) taken.push_back(static_cast<int>(lane + k));
  return width == lanes ? row : f.ir.CreateShuffleVector(row, taken);
}

// Before and after the transposition, vector r holds either the elements of each lane whose number is r modulo `width`,
// or element r of all lanes.
void Squares::transpose(IrValue first, unsigned width, bool back) const {
  auto& ir = f.ir;
  const auto own = [&](unsigned lane) { return ir.CreateInBoundsGEP(e.type, e.own[lane], first); };
  const auto side = [&](unsigned r) {
    IrValue element = ir.CreateMul(ir.CreateAdd(first, ir.getInt64(r)), ir.getInt64(lanes));
    return ir.CreateInBoundsGEP(e.type, e.side, element);
  };
  std::vector<IrValue> rows(width, llvm::PoisonValue::get(vector(lanes)));
  if (back)
    for (unsigned r = 0; r < width; ++r) rows[r] = ir.CreateAlignedLoad(vector(lanes), side(r), align);
  else
    for (unsigned lane = 0; lane < lanes; ++lane) put_in(rows[lane % width], lane / width * width, width, own(lane));
  transpose_squares(f, rows);
  if (back)
    for (unsigned lane = 0; lane < lanes; ++lane)
      ir.CreateAlignedStore(taken_from(rows[lane % width], lane / width * width, width), own(lane), align);
  else
    for (unsigned r = 0; r < width; ++r) ir.CreateAlignedStore(rows[r], side(r), align);
}

void Squares::all(bool back) const {
  auto& ir = f.ir;
  const Target& target = f.module.target;
  const auto side = static_cast<unsigned>(std::min<std::int64_t>(lanes, target.most_transposed));
  const std::int64_t whole = e.count / side;
  std::int64_t done = whole * side;
  if (done <= target.unrolled_elements)
    for (std::int64_t k = 0; k < whole; ++k) transpose(ir.getInt64(static_cast<std::uint64_t>(k) * side), side, back);
  else
    f.loop(whole, [&](IrValue k) {
      transpose(ir.CreateMul(ir.CreateZExtOrTrunc(k, ir.getInt64Ty()), ir.getInt64(side)), side, back);
    });
  while (done < e.count) {
    const auto width = std::bit_floor(static_cast<std::uint64_t>(e.count - done));
    transpose(ir.getInt64(static_cast<std::uint64_t>(done)), static_cast<unsigned>(width), back);
    done += static_cast<std::int64_t>(width);
  }
}

}  // namespace

void lay_side_by_side(Function& f, const ElementsOfLanes& e) { Squares{f, e}.all(false); }
void lay_apart(Function& f, const ElementsOfLanes& e) { Squares{f, e}.all(true); }

}  // namespace rml::codegen
