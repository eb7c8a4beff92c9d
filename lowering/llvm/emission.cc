// The parts of a module that belong to no unit: constants and shared functions' declarations.
#include "lowering/llvm/emission.h"

#include <cstring>

namespace rml::codegen {

Emission::Emission(const steps::Program& p, const SourceMap& s, const EmitOptions& o, llvm::Module& m,
                   TargetFacts facts)
    : program(p),
      core(*p.core),
      sources(s),
      options(o),
      module(m),
      context(m.getContext()),
      abi(context),
      target(facts),
      packs(o.target.strict_math || o.target.optimization == 0 || facts.vector_bits < 128 ? Packs{} : find_packs(p)),
      layout(p, m.getDataLayout(), abi.header, o.with_program || o.with_main, pack_sizes()),
      debug(m, s, o.target.optimization > 0),
      index_type_(llvm::Type::getIntNTy(context, m.getDataLayout().getIndexSizeInBits(0))) {
  for (std::size_t v = 0; v < core.values.size(); ++v) {
    if (const auto* call = std::get_if<core::Call>(&core.values[v].rhs)) {
      results_[static_cast<std::uint32_t>(v)].resize(core.externals[call->external].outputs.size());
    } else if (const auto* result = std::get_if<core::Result>(&core.values[v].rhs)) {
      auto& all = results_[result->call.index];
      if (all.size() <= result->output) all.resize(result->output + 1);
      all[result->output] = ValueId(v);
    }
  }
}

llvm::Function* Emission::function(const llvm::Twine& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters,
                                   bool exported) {
  auto* type = llvm::FunctionType::get(result, parameters, false);
  auto* f = llvm::Function::Create(
      type, exported ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage, name, module);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  return f;
}

llvm::Constant* Emission::text(const std::string& text) {
  llvm::Constant*& known = texts_[text];
  if (known == nullptr) {
    auto* data = llvm::ConstantDataArray::getString(context, text);
    auto* global =
        new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, "text");
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    known = global;
  }
  return known;
}

llvm::Constant* Emission::tensor(const Tensor& tensor) {
  const void* storage = tensor.data();
  llvm::Constant*& known = tensors_[tensor.bytes() > 0 ? storage : &tensor];
  if (known == nullptr) {
    llvm::Constant* data = memory_constant(context, tensor);
    auto* global =
        new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, "constant");
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    global->setAlignment(llvm::Align(64));
    known = global;
  }
  return known;
}

llvm::Constant* Emission::panels(const Tensor& matrix, std::int64_t inner, std::int64_t n, std::int64_t row,
                                 std::int64_t column, std::int64_t widest) {
  const auto [known, is_new] = panels_.try_emplace({matrix.data(), column}, matrix.dtype(), Shape{inner * n});
  if (is_new) {
    const std::size_t size = byte_size(matrix.dtype());
    const auto* from = static_cast<const std::byte*>(matrix.data());
    auto* to = static_cast<std::byte*>(known->second.data());
    std::int64_t done = 0;
    for (std::int64_t width = widest; done < n; width /= 2)
      for (; done + width <= n; done += width)
        for (std::int64_t k = 0; k < inner; ++k)
          for (std::int64_t j = 0; j < width; ++j, to += size)
            std::memcpy(to, from + static_cast<std::size_t>(k * row + (done + j) * column) * size, size);
  }
  return tensor(known->second);
}

llvm::Constant* Emission::table(const std::string& name, llvm::Type* element, llvm::ArrayRef<llvm::Constant*> rows) {
  if (rows.empty()) return llvm::ConstantPointerNull::get(pointer());
  auto* data = llvm::ConstantArray::get(llvm::ArrayType::get(element, rows.size()), rows);
  return new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, name);
}

std::uint32_t Emission::place_of(ValueId v) {
  std::uint32_t& place = place_of_[v];
  if (place == 0) {
    places_.push_back({core[v].span, v, ""});
    place = static_cast<std::uint32_t>(places_.size());
  }
  return place;
}

std::uint32_t Emission::new_place(Span span, std::string text) {
  places_.push_back({span, {}, std::move(text)});
  return static_cast<std::uint32_t>(places_.size());
}

IrValue Emission::header_field(llvm::IRBuilder<>& ir, IrValue state, unsigned field) {
  return ir.CreateStructGEP(abi.header, state, field);
}

llvm::Function* Emission::raise() {
  if (raise_ != nullptr) return raise_;
  raise_ = function("raise", i32(), {pointer(), i32(), i32(), i64(), i64(), i64()}, false);
  raise_->addFnAttr(llvm::Attribute::Cold);
  raise_->addFnAttr(llvm::Attribute::NoInline);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(context, "entry", raise_));
  const unsigned fields[] = {field::fault, field::site, field::fault_cycle, field::value, field::bound};
  for (unsigned k = 0; k < 5; ++k)
    ir.CreateStore(raise_->getArg(k + 1), header_field(ir, raise_->getArg(0), fields[k]));
  ir.CreateRet(raise_->getArg(1));
  return raise_;
}

}  // namespace rml::codegen
