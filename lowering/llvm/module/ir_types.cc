// Creates dtypes, constants and the structs of rmlrt.h in LLVM (ir_types.h).
#include "lowering/llvm/module/ir_types.h"

#include <stdexcept>

namespace rml::codegen {

llvm::Type* register_type(llvm::LLVMContext& context, DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return llvm::Type::getInt1Ty(context);
    case DType::i8:
    case DType::u8:
      return llvm::Type::getInt8Ty(context);
    case DType::i16:
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return llvm::Type::getInt16Ty(context);
    case DType::i32:
    case DType::u32:
      return llvm::Type::getInt32Ty(context);
    case DType::i64:
    case DType::u64:
      return llvm::Type::getInt64Ty(context);
    case DType::f32:
      return llvm::Type::getFloatTy(context);
    case DType::f64:
      return llvm::Type::getDoubleTy(context);
  }
  throw std::logic_error("code generation: a dtype that does not exist");
}

llvm::Type* memory_type(llvm::LLVMContext& context, DType dtype) {
  return dtype == DType::boolean ? llvm::Type::getInt8Ty(context) : register_type(context, dtype);
}

bool is_half(DType dtype) { return is_float(dtype) && !has_gradient(dtype); }

namespace {
std::uint64_t element_bits(const Tensor& tensor, std::int64_t index) {
  const std::size_t size = byte_size(tensor.dtype());
  std::uint64_t bits = 0;
  const auto* at = static_cast<const unsigned char*>(tensor.data()) + static_cast<std::size_t>(index) * size;
  for (std::size_t k = 0; k < size; ++k) bits |= std::uint64_t{at[k]} << (8 * k);
  return bits;
}
}  // namespace

llvm::Constant* element_constant(llvm::LLVMContext& context, const Tensor& tensor, std::int64_t index) {
  llvm::Type* type = register_type(context, tensor.dtype());
  const std::uint64_t bits = element_bits(tensor, index);
  if (!type->isFloatingPointTy())
    return llvm::ConstantInt::get(type, tensor.dtype() == DType::boolean ? bits & 1 : bits);
  return llvm::ConstantFP::get(
      context, llvm::APFloat(type->getFltSemantics(), llvm::APInt(type->getPrimitiveSizeInBits(), bits)));
}

llvm::Constant* memory_constant(llvm::LLVMContext& context, const Tensor& tensor) {
  llvm::Type* element = memory_type(context, tensor.dtype());
  auto* type = llvm::ArrayType::get(element, static_cast<std::uint64_t>(tensor.elements()));
  if (all_zero(tensor)) return llvm::ConstantAggregateZero::get(type);
  const llvm::StringRef bytes(static_cast<const char*>(tensor.data()), tensor.bytes());
  return llvm::ConstantDataArray::getRaw(bytes, static_cast<std::uint64_t>(tensor.elements()), element);
}

bool all_zero(const Tensor& tensor) {
  const auto* at = static_cast<const unsigned char*>(tensor.data());
  for (std::size_t k = 0; k < tensor.bytes(); ++k) {
    if (at[k] != 0) return false;
  }
  return true;
}

bool uniform(const Tensor& tensor) {
  const std::size_t size = byte_size(tensor.dtype());
  const auto* at = static_cast<const unsigned char*>(tensor.data());
  for (std::int64_t i = 1; i < tensor.elements(); ++i) {
    if (std::memcmp(at, at + static_cast<std::size_t>(i) * size, size) != 0) return false;
  }
  return tensor.elements() > 0;
}

std::uint64_t bytes(DType dtype, const Shape& shape) {
  return static_cast<std::uint64_t>(elements(shape)) * byte_size(dtype);
}

AbiTypes::AbiTypes(llvm::LLVMContext& c) {
  auto* pointer = llvm::PointerType::get(c, 0);
  auto* i8 = llvm::Type::getInt8Ty(c);
  auto* i32 = llvm::Type::getInt32Ty(c);
  auto* i64 = llvm::Type::getInt64Ty(c);
  header = llvm::StructType::create(
      c, {i64, i64, pointer, pointer, i64, i64, i64, i64, i64, i32, i32, i64, i64, i64, i32, i32}, "rml_header");
  port = llvm::StructType::create(c, {pointer, pointer, i8, i8, i8, i32, pointer, i64}, "rml_port");
  site = llvm::StructType::create(c, {pointer, i32, i32, pointer}, "rml_site");
  cut = llvm::StructType::create(c, {pointer, site}, "rml_cut");
  memory = llvm::StructType::create(c, {pointer, i8, i8, i32, pointer, i64, i64, i32, i32}, "rml_memory");
  parameter = llvm::StructType::create(c, {pointer, i8, i32, pointer, i64, i64, i32}, "rml_parameter");
  watch = llvm::StructType::create(c, {i32, i32, site}, "rml_watch");
  origin = llvm::StructType::create(c, {pointer, pointer, i32, i32, pointer}, "rml_origin");
  queue = llvm::StructType::create(c, {i32, i64, i64, i32, pointer, pointer}, "rml_queue");
  task = llvm::StructType::create(c,
                                  {pointer, site, i8, i8, i32, i32, i32, i32, pointer, pointer, pointer, pointer, i64,
                                   i64, i64, i64, pointer, pointer, pointer},
                                  "rml_task");
  network =
      llvm::StructType::create(c, {i32, i32, pointer, pointer, i32, i32, pointer, pointer, pointer}, "rml_network");
  program = llvm::StructType::create(
      c, {i32, pointer, pointer, i32,     i32,     i32,     i32,     pointer, pointer, pointer, pointer,
          i32, i32,     i32,     i32,     i32,     i32,     i32,     pointer, pointer, pointer, pointer,
          i64, i64,     pointer, pointer, pointer, pointer, pointer, pointer, pointer, pointer, pointer,
          i32, i32,     pointer, pointer, i64,     i32,     i32,     i32,     pointer},
      "rml_program");
  flow = llvm::StructType::create(c, {i32, i32, i32, i32, pointer, pointer, pointer, pointer}, "rml_flow");
}

}  // namespace rml::codegen
