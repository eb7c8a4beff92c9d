// Expressions over products: computed from the elements of a product as they leave its registers.
#pragma once

#include "lowering/llvm/elements/expression.h"

namespace rml::codegen {

// The leaves that are computed by the product's loops.
struct Epilogue {
  std::size_t product = SIZE_MAX;  // SIZE_MAX: none is
  std::size_t other = SIZE_MAX;    // another one, both packed, of which only the sum is looked at
};
Epilogue find_epilogue(const Function&, const Expression&, const Shape&);
// The value of the expression, v, by these loops; other leaves are in memory.
void emit_epilogue(Function&, ValueId v, const Expression&, const Epilogue&);

}  // namespace rml::codegen
