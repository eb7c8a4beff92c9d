// The parts of a module that belong to no unit: constants and declarations of shared functions.
#include "lowering/llvm/module/emission.h"

#include <algorithm>
#include <cstring>

namespace rml::codegen {

namespace {

// False for bodies of iterations and for leads (Emission::leads): they have no program table, and
// no host keeps their cells.
bool cells_apart(const steps::Program& p, const EmitOptions& o) {
  return o.with_program && o.cells_apart && p.straight && !p.network && p.on_demand == nullptr;
}

// A short window in a cell that may be apart from the state is replaced by moving its rows: such a cell is copied
// whole, with both copies of its rows, and back.
std::map<ValueId, steps::Window> windows_of(const steps::Program& p, const EmitOptions& o) {
  std::map<ValueId, steps::Window> windows = p.windows;
  if (cells_apart(p, o))
    std::erase_if(windows, [&](const auto& entry) {
      const steps::CellInfo& cell = p.cells[entry.second.cell.index];
      return bytes(cell.dtype, cell.shape) <= Target::moved_bytes;
    });
  return windows;
}

}  // namespace

Emission::Emission(const steps::Program& p, const SourceMap& s, const EmitOptions& o, llvm::Module& m,
                   const std::pair<Target, Numeric>& machine, Compute how)
    : program(p),
      core(*p.core),
      sources(s),
      options(o),
      module(m),
      context(m.getContext()),
      abi(context),
      target(machine.first),
      numeric(machine.second),
      compute(how),
      windows(windows_of(p, o)),
      packs(target.has_vectors() ? p.packs : steps::Packs{}),
      layout(p, target, m.getDataLayout(), abi.header,
             {o.with_program || o.with_main, codegen::cells_apart(p, o), windows}, pack_sizes()),
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

Emission::Emission(const steps::Program& p, const EmitOptions& o, const Emission& outer)
    : Emission(p, outer.sources, o, outer.module, {outer.target, outer.numeric}, outer.compute) {}

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
  std::int64_t columns = 0;  // number of columns, including those beyond the matrix
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

// ---- packs -----------------------------------------------------------------------------------

std::int64_t Emission::panel_width(const steps::Pack& pack) const {
  return target.row_vectors(pack.rows) * target.lanes(program.cells[pack.cell.index].dtype);
}

// The panels cover the remaining columns, in whole vectors.
std::int64_t Emission::pack_elements(const steps::Pack& pack) const {
  const std::int64_t vector = target.lanes(program.cells[pack.cell.index].dtype);
  return pack.inner * ((pack.n + vector - 1) / vector * vector);
}

std::vector<std::uint64_t> Emission::pack_sizes() const {
  std::vector<std::uint64_t> sizes;
  for (const steps::Pack& p : packs.list)
    sizes.push_back(static_cast<std::uint64_t>(pack_elements(p)) * byte_size(program.cells[p.cell.index].dtype));
  return sizes;
}

// ---- growth ---------------------------------------------------------------------------------

llvm::Function* Emission::grow() {
  if (grow_ != nullptr) return grow_;
  grow_ = function("grow", pointer(), {pointer(), pointer(), i64(), i64()}, false);
  IrValue state = grow_->getArg(0), old = grow_->getArg(1), old_bytes = grow_->getArg(2), new_bytes = grow_->getArg(3);
  auto *entry = llvm::BasicBlock::Create(context, "entry", grow_),
       *ask = llvm::BasicBlock::Create(context, "ask", grow_);
  auto *count = llvm::BasicBlock::Create(context, "count", grow_),
       *refused = llvm::BasicBlock::Create(context, "refused", grow_);
  llvm::IRBuilder<> ir(entry);
  IrValue host = ir.CreateLoad(pointer(), header_field(ir, state, field::grow));
  ir.CreateCondBr(ir.CreateIsNull(host), refused, ask);
  ir.SetInsertPoint(ask);
  auto* type = llvm::FunctionType::get(pointer(), {pointer(), pointer(), i64(), i64()}, false);
  IrValue moved = ir.CreateCall(
      type, host, {ir.CreateLoad(pointer(), header_field(ir, state, field::context)), old, old_bytes, new_bytes});
  ir.CreateCondBr(ir.CreateAnd(ir.CreateIsNull(moved), ir.CreateICmpNE(new_bytes, ir.getInt64(0))), refused, count);
  ir.SetInsertPoint(count);
  IrValue held = header_field(ir, state, field::buffer_bytes);
  ir.CreateStore(ir.CreateAdd(ir.CreateLoad(i64(), held), ir.CreateSub(new_bytes, old_bytes)), held);
  ir.CreateRet(moved);
  ir.SetInsertPoint(refused);
  ir.CreateRet(llvm::ConstantPointerNull::get(pointer()));
  return grow_;
}

llvm::Function* Emission::grow_ring() {
  if (grow_ring_ != nullptr) return grow_ring_;
  grow_ring_ = function("grow_ring", i64(), {pointer(), pointer(), i64(), i64()}, false);
  grow_ring_->addFnAttr(llvm::Attribute::Cold);
  grow_ring_->addFnAttr(llvm::Attribute::NoInline);
  IrValue state = grow_ring_->getArg(0), ring = grow_ring_->getArg(1), size = grow_ring_->getArg(2),
          first = grow_ring_->getArg(3);
  auto *entry = llvm::BasicBlock::Create(context, "entry", grow_ring_),
       *refused = llvm::BasicBlock::Create(context, "refused", grow_ring_);
  auto* moved = llvm::BasicBlock::Create(context, "moved", grow_ring_);
  llvm::IRBuilder<> ir(entry);
  IrValue capacity_at = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), ring, 8);
  IrValue capacity = ir.CreateLoad(i64(), capacity_at);
  IrValue doubled = ir.CreateSelect(ir.CreateICmpEQ(capacity, ir.getInt64(0)), first, ir.CreateShl(capacity, 1));
  IrValue old_bytes = ir.CreateMul(capacity, size), new_bytes = ir.CreateMul(doubled, size);
  IrValue block = ir.CreateCall(grow(), {state, ir.CreateLoad(pointer(), ring), old_bytes, new_bytes});
  ir.CreateCondBr(ir.CreateIsNull(block), refused, moved);
  ir.SetInsertPoint(moved);
  ir.CreateMemCpy(ir.CreateInBoundsGEP(ir.getInt8Ty(), block, old_bytes), llvm::Align(1), block, llvm::Align(1),
                  old_bytes);
  ir.CreateStore(block, ring);
  ir.CreateStore(doubled, capacity_at);
  ir.CreateRet(ir.getInt64(0));
  ir.SetInsertPoint(refused);
  ir.CreateRet(new_bytes);
  return grow_ring_;
}

llvm::Function* Emission::grow_segment() {
  if (grow_segment_ != nullptr) return grow_segment_;
  grow_segment_ = function("grow_segment", i64(), {pointer(), pointer(), pointer(), pointer(), i64()}, false);
  grow_segment_->addFnAttr(llvm::Attribute::Cold);
  grow_segment_->addFnAttr(llvm::Attribute::NoInline);
  IrValue state = grow_segment_->getArg(0), records = grow_segment_->getArg(1), capacity_at = grow_segment_->getArg(2);
  IrValue sizes = grow_segment_->getArg(3), count = grow_segment_->getArg(4);
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context, name, grow_segment_); };
  auto *entry = block("entry"), *loop = block("loop"), *one = block("one"), *moved = block("moved"),
       *refused = block("refused"), *done = block("done");
  llvm::IRBuilder<> ir(entry);
  IrValue capacity = ir.CreateLoad(i64(), capacity_at);
  IrValue doubled =
      ir.CreateSelect(ir.CreateICmpEQ(capacity, ir.getInt64(0)), ir.getInt64(16), ir.CreateShl(capacity, 1));
  ir.CreateBr(loop);
  ir.SetInsertPoint(loop);
  auto* k = ir.CreatePHI(i64(), 2);
  k->addIncoming(ir.getInt64(0), entry);
  ir.CreateCondBr(ir.CreateICmpULT(k, count), one, done);
  ir.SetInsertPoint(one);
  IrValue new_bytes = ir.CreateMul(doubled, ir.CreateLoad(i64(), ir.CreateInBoundsGEP(i64(), sizes, k)));
  IrValue record = ir.CreateInBoundsGEP(llvm::ArrayType::get(ir.getInt8Ty(), StateLayout::record_bytes), records, k);
  IrValue bytes_at = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), record, 8);
  IrValue data =
      ir.CreateCall(grow(), {state, ir.CreateLoad(pointer(), record), ir.CreateLoad(i64(), bytes_at), new_bytes});
  ir.CreateCondBr(ir.CreateIsNull(data), refused, moved);
  ir.SetInsertPoint(moved);
  ir.CreateStore(data, record);
  ir.CreateStore(new_bytes, bytes_at);
  k->addIncoming(ir.CreateAdd(k, ir.getInt64(1)), moved);
  ir.CreateBr(loop);
  ir.SetInsertPoint(refused);
  ir.CreateRet(new_bytes);
  ir.SetInsertPoint(done);
  ir.CreateStore(doubled, capacity_at);
  ir.CreateRet(ir.getInt64(0));
  return grow_segment_;
}

}  // namespace rml::codegen
