// The parts of a module that belong to no unit: constants and shared functions' declarations.
#include "lowering/llvm/module/emission.h"

#include <algorithm>
#include <cstring>

namespace rml::codegen {

Emission::Emission(const steps::Program& p, const SourceMap& s, const EmitOptions& o, llvm::Module& m,
                   const std::pair<Target, Numeric>& machine)
    : program(p),
      core(*p.core),
      sources(s),
      options(o),
      module(m),
      context(m.getContext()),
      abi(context),
      target(machine.first),
      numeric(machine.second),
      windows(p.windows),
      packs(target.has_vectors() ? p.packs : steps::Packs{}),
      layout(p, target, m.getDataLayout(), abi.header, o.with_program || o.with_main, pack_sizes()),
      debug(m, s, o.target.optimization > 0),
      index_type_(llvm::Type::getIntNTy(context, m.getDataLayout().getIndexSizeInBits(0))) {
  cell_windows_.resize(p.cells.size());
  for (const auto& [value, window] : windows) cell_windows_[window.cell.index] = &window;
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

llvm::Constant* Emission::panels(const Tensor& from, const Panels& p) {
  std::int64_t columns = 0;  // with those beyond the matrix
  for (const std::int64_t width : p.widths) columns += width;
  const Shape shape{p.matrices * p.blocks * p.inner * columns};
  const auto [known, is_new] = panels_.try_emplace({from.data(), p}, from.dtype(), shape);
  if (!is_new) return tensor(known->second);
  const std::size_t size = byte_size(from.dtype());
  const auto* elements = static_cast<const std::byte*>(from.data());
  auto* to = static_cast<std::byte*>(known->second.data());
  std::memset(to, 0, known->second.bytes());
  for (std::int64_t matrix = 0; matrix < p.matrices; ++matrix) {
    std::int64_t done = 0;
    for (const std::int64_t width : p.widths) {
      const std::int64_t there = std::min(width, p.n - done);
      for (std::int64_t k = 0; k < p.blocks * p.inner; ++k, to += static_cast<std::size_t>(width) * size) {
        const std::int64_t row = matrix * p.distance + k / p.inner * p.block + k % p.inner * p.row;
        for (std::int64_t j = 0; j < there; ++j)
          std::memcpy(to + static_cast<std::size_t>(j) * size,
                      elements + static_cast<std::size_t>(row + (done + j) * p.column) * size, size);
      }
      done += width;
    }
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
