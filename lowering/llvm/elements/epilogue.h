// Expressions over products, computed from the elements of a product while they are still in registers.
#pragma once

#include "lowering/llvm/elements/expression.h"

namespace rml::codegen {

// The leaves that the product's loops compute.
struct Epilogue {
  std::size_t product = SIZE_MAX;  // SIZE_MAX: none
  std::size_t other = SIZE_MAX;    // a second product whose only use is the sum with the first; both are packed
};
Epilogue find_epilogue(const Function&, const Expression&, const Shape&);
// Computes v, the value of the expression, in these loops. All other leaves must be in memory.
void emit_epilogue(Function&, ValueId v, const Expression&, const Epilogue&);

}  // namespace rml::codegen
