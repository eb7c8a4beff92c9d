// Maps dtypes, tensors and the C ABI of rmlrt.h to LLVM types.
//
// A Boolean is i1 in a register and a byte, 0 or 1, in memory; every other dtype is the same in both. f16 and bf16 are
// not computed with and are represented by their 16 bits. The structs are those of rmlrt.h, field by field, so that the
// target's data layout places them like its C compiler.
#pragma once

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>

#include "semantics/values/strides.h"

namespace rml::codegen {

using IrValue = llvm::Value*;  // the result of an instruction; rml::Value, in contrast, is an equation

llvm::Type* register_type(llvm::LLVMContext&, DType);
llvm::Type* memory_type(llvm::LLVMContext&, DType);
bool is_half(DType);  // f16, bf16
// The element `index` of a tensor, in the type that a register has for it.
llvm::Constant* element_constant(llvm::LLVMContext&, const Tensor&, std::int64_t index);
// All elements of a tensor as they are stored: an array of memory_type.
llvm::Constant* memory_constant(llvm::LLVMContext&, const Tensor&);
bool all_zero(const Tensor&);
bool uniform(const Tensor&);  // true if the tensor has elements, and all have the same bits

std::uint64_t bytes(DType, const Shape&);

// Indices of the fields of rml_header.
namespace field {
enum Header : unsigned {
  seed,
  horizon,
  grow,
  context,
  pushed,
  popped,
  longest_segment,
  segments,
  buffer_bytes,
  fault,
  site,
  fault_cycle,
  value,
  bound,
  waiting,
  place,
};
}  // namespace field

struct AbiTypes {
  llvm::StructType *header, *port, *site, *cut, *memory, *parameter, *watch, *origin, *queue, *task, *network, *program,
      *flow;
  explicit AbiTypes(llvm::LLVMContext&);
};

}  // namespace rml::codegen
