// Chooses loops so that vectors run across elements of C if B, or A for a single column, is contiguous that way. They
// run along the inner index only if that is the contiguous one. With strict_math no sum is spread over lanes.
#include "lowering/llvm/products/form.h"

namespace rml::codegen {

ProductForm form_of(const Product& p, const Target& target, const Numeric& numeric) {
  if (p.inner == 0) return ProductForm::nothing;
  if (p.constant != nullptr) return ProductForm::constant;
  const std::int64_t lanes = target.lanes(p.dtype);
  const bool column = p.n == 1, single = p.m == 1;
  const bool along = p.a_inner == 1 && p.b_inner == 1 && lanes > 1 && !(numeric.strict && is_float(p.dtype));
  const bool fills = along && p.inner >= lanes;
  if (column && single && along) return ProductForm::dots;
  if (column && (single || p.a_row == 1)) return ProductForm::row;
  if (column && fills) return ProductForm::dots;
  if (p.n <= 1) return ProductForm::tiles;
  if (p.m > Target::few_rows) return ProductForm::gemm;
  return fills ? ProductForm::dots_of_rows : ProductForm::tiles;
}

}  // namespace rml::codegen
