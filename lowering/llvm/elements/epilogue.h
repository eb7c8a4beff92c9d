// Expressions over products, computed from the elements of a product while they are still in registers.
#pragma once

#include "lowering/llvm/elements/expression.h"

namespace rml::codegen {

// The leaves of an expression that the loops of a product compute.
struct Epilogue {
  std::size_t product = SIZE_MAX;  // index of the product among the leaves; SIZE_MAX: there is none
  std::size_t other = SIZE_MAX;    // a second product whose only use is the sum with the first; both are packed
};
Epilogue find_epilogue(const Function&, const Expression&, const Shape&);
// Computes v, the value of the expression, in these loops. All other leaves must be in memory.
void emit_epilogue(Function&, ValueId v, const Expression&, const Epilogue&);

}  // namespace rml::codegen
