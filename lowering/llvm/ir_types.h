// How dtypes, tensors and the C ABI of rmlrt.h look in LLVM IR.
//
// A Boolean is i1 in a register and a byte, 0 or 1, in memory; every other dtype is the same
// in both. f16 and bf16, which are not computed with, are their 16 bits. The structs are those of rmlrt.h, field by
// field, so that the target's own data layout places them as its C compiler does.
#pragma once

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>

#include "semantics/values/type.h"

namespace rml::codegen {

using IrValue = llvm::Value*;  // rml::Value is an equation, this is an instruction's result
using Strides = std::vector<std::int64_t>;

llvm::Type* register_type(llvm::LLVMContext&, DType);
llvm::Type* memory_type(llvm::LLVMContext&, DType);
bool is_half(DType);  // f16, bf16
// Element `index` in register form.
llvm::Constant* element_constant(llvm::LLVMContext&, const Tensor&, std::int64_t index);
// All elements as they lie in memory: an array of memory_type.
llvm::Constant* memory_constant(llvm::LLVMContext&, const Tensor&);
bool all_zero(const Tensor&);
bool uniform(const Tensor&);  // all elements have the same bits; at least one

std::int64_t elements(const Shape&);
std::uint64_t bytes(DType, const Shape&);
Strides dense_strides(const Shape&);
// Strides of a dense tensor of shape `from` seen at the shape `to` it broadcasts to.
Strides broadcast_strides(const Shape& from, const Shape& to);

// Fields of rml_header, by position.
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
