// The foundation of a generated function: faults and their exit, loops, storage, values.
#include "lowering/llvm/function/function.h"

#include <llvm/IR/MDBuilder.h>

#include <cstddef>
#include <stdexcept>
#include <utility>

#include "runtime/base/rmlrt.h"

namespace rml::codegen {

Function::Function(Emission& m, llvm::Function* function, const std::string& title, Span span, IrValue s)
    : module(m), ir(m.context), state(s), whole{function, s}, title(title) {
  frame.function = function;
  auto* entry = llvm::BasicBlock::Create(m.context, "entry", function);
  frame.exit = llvm::BasicBlock::Create(m.context, "exit");
  auto* begin = llvm::BasicBlock::Create(m.context, "begin", function);
  frame.subprogram = m.debug.begin(*function, title, span);
  ir.SetInsertPoint(entry);
  locate({});
  ir.CreateBr(begin);
  ir.SetInsertPoint(begin);
  frame.code = variable(m.i32(), "code");
  if (m.numeric.fast) ir.setFastMathFlags(llvm::FastMathFlags::getFast());
  m.layout.begin_function();
  if (m.layout.apart > 0) cells = find_cells(state);
}

IrValue Function::find_cells(IrValue of_state) {
  IrValue place = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), of_state, offsetof(rml_header, cells));
  return ir.CreateLoad(module.pointer(), place, "cells");
}

void Function::locate(Span span) {
  here = span;
  ir.SetCurrentDebugLocation(module.debug.location(frame.subprogram, span));
}

void Function::enter(std::uint32_t place) {
  ir.CreateStore(ir.getInt32(place), module.header_field(ir, state, field::place));
}

// ---- control --------------------------------------------------------------------------------

llvm::BasicBlock* Function::new_block(const llvm::Twine& name) {
  return llvm::BasicBlock::Create(module.context, name, frame.function);
}

void Function::finish(const std::function<void()>& before_return, int result) {
  end_frame(before_return, result);
  if (at_end) at_end();
}

void Function::end_frame(const std::function<void()>& before_return, int result) {
  auto* value = ir.getInt32(static_cast<std::uint32_t>(result));
  locate({});
  if (!can_fault) {
    delete frame.exit;
    if (before_return) before_return();
    ir.CreateRet(value);
    return;
  }
  ir.CreateStore(value, frame.code);
  ir.CreateBr(frame.exit);
  frame.exit->insertInto(frame.function);
  ir.SetInsertPoint(frame.exit);
  if (before_return) before_return();
  ir.CreateRet(ir.CreateLoad(module.i32(), frame.code, "code"));
}

void Function::leave_with(IrValue code) {
  if (frame.worker != nullptr) throw std::logic_error("code generation: a fault in a parallel loop");
  can_fault = true;
  ir.CreateStore(code, frame.code);
  ir.CreateBr(frame.exit);
}

void Function::check(IrValue bad, int kind, std::uint32_t site, IrValue value, IrValue bound) {
  check(bad, ir.getInt32(static_cast<std::uint32_t>(kind)), site, value, bound);
}

void Function::check(IrValue bad, IrValue kind, std::uint32_t site, IrValue value, IrValue bound) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(bad); known != nullptr && known->isZero()) return;
  auto* fault = new_block("fault");
  auto* sound = new_block("sound");
  llvm::MDBuilder weights(module.context);
  ir.CreateCondBr(bad, fault, sound, weights.createBranchWeights(1, 1u << 20));
  ir.SetInsertPoint(fault);
  const auto wide = [&](IrValue v) -> IrValue {
    return v == nullptr ? ir.getInt64(0) : ir.CreateSExtOrTrunc(v, module.i64());
  };
  leave_with(ir.CreateCall(module.raise(), {header(), kind, ir.getInt32(site), cycle(), wide(value), wide(bound)}));
  ir.SetInsertPoint(sound);
}

void Function::leave_unless_zero(IrValue code) {
  auto* fault = new_block("fault");
  auto* sound = new_block("sound");
  ir.CreateCondBr(ir.CreateICmpNE(code, ir.getInt32(0)), fault, sound,
                  llvm::MDBuilder(module.context).createBranchWeights(1, 1u << 20));
  ir.SetInsertPoint(fault);
  leave_with(code);
  ir.SetInsertPoint(sound);
}

void Function::fail_memory(IrValue bytes_refused) {
  check(ir.CreateICmpNE(bytes_refused, ir.getInt64(0)), RML_FAULT_MEMORY, no_site, bytes_refused);
}

void Function::when(IrValue condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  auto* yes = new_block("then");
  auto* no = otherwise ? new_block("else") : nullptr;
  auto* join = new_block("join");
  ir.CreateCondBr(condition, yes, no != nullptr ? no : join);
  ir.SetInsertPoint(yes);
  then();
  ir.CreateBr(join);
  if (no != nullptr) {
    ir.SetInsertPoint(no);
    otherwise();
    ir.CreateBr(join);
  }
  ir.SetInsertPoint(join);
}

llvm::BasicBlock* Function::open_loop(IrValue extent, llvm::PHINode*& index) {
  auto* before = ir.GetInsertBlock();
  auto* header = new_block("loop");
  ir.CreateBr(header);
  ir.SetInsertPoint(header);
  index = ir.CreatePHI(extent->getType(), 2, "i");
  index->addIncoming(llvm::ConstantInt::get(extent->getType(), 0), before);
  return header;
}

namespace {

// False for long loops. Otherwise LLVM would analyse at length, twice, whether to unroll the loop fully or partly.
bool worth_unrolling(const Target& target, llvm::BasicBlock* header, IrValue extent) {
  const auto* rounds = llvm::dyn_cast<llvm::ConstantInt>(extent);
  if (rounds == nullptr) return true;
  std::size_t instructions = 0;
  for (const llvm::BasicBlock& block : llvm::make_range(header->getIterator(), header->getParent()->end()))
    instructions += static_cast<std::size_t>(std::ranges::count_if(
        block, [](const llvm::Instruction& each) { return !llvm::isa<llvm::GetElementPtrInst>(each); }));
  const std::uint64_t count = rounds->getZExtValue();
  return instructions < target.unrolled_body ||
         (count <= target.rounds_looked_at && instructions * count < target.unrolled_loop);
}

}  // namespace

llvm::MDNode* Function::not_unrolled() {
  return llvm::MDNode::get(module.context, {llvm::MDString::get(module.context, "llvm.loop.unroll.disable")});
}

void Function::close_loop(llvm::BasicBlock* header, llvm::PHINode* index, IrValue extent) {
  IrValue next = ir.CreateAdd(index, llvm::ConstantInt::get(extent->getType(), 1), "next", true, true);
  index->addIncoming(next, ir.GetInsertBlock());
  auto* done = new_block("done");
  auto* again = ir.CreateCondBr(ir.CreateICmpULT(next, extent), header, done);
  std::vector<llvm::Metadata*> about = {nullptr};
  if (!worth_unrolling(module.target, header, extent)) about.push_back(not_unrolled());
  if (independent != nullptr)
    about.push_back(llvm::MDNode::get(
        module.context, {llvm::MDString::get(module.context, "llvm.loop.parallel_accesses"), independent}));
  about.insert(about.end(), about_loop.begin(), about_loop.end());
  about_loop.clear();
  if (about.size() > 1) {
    auto* node = llvm::MDNode::getDistinct(module.context, about);
    node->replaceOperandWith(0, node);
    again->setMetadata(llvm::LLVMContext::MD_loop, node);
  }
  ir.SetInsertPoint(done);
}

void Function::loop(std::int64_t extent, const std::function<void(IrValue)>& body) {
  if (extent <= 0) return;
  if (extent == 1) return body(constant(0));
  llvm::PHINode* index = nullptr;
  auto* header = open_loop(constant(extent), index);
  body(index);
  close_loop(header, index, constant(extent));
}

void Function::loop(IrValue extent, const std::function<void(IrValue)>& body) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(extent);
      known != nullptr && extent->getType() == module.index_type())
    return loop(known->getSExtValue(), body);
  when(ir.CreateICmpSGT(extent, llvm::ConstantInt::get(extent->getType(), 0)), [&] {
    llvm::PHINode* index = nullptr;
    auto* header = open_loop(extent, index);
    body(index);
    close_loop(header, index, extent);
  });
}

void Function::loop(const Rounds& rounds, IrValue extent, const std::function<void(IrValue)>& body) {
  if (rounds.begin == nullptr) return loop(extent, body);
  IrValue end = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, rounds.end, extent);
  loop(ir.CreateSub(end, rounds.begin, "", false, true),
       [&](IrValue i) { body(ir.CreateAdd(rounds.begin, i, "", true, true)); });
}

// ---- storage --------------------------------------------------------------------------------

namespace {

llvm::AllocaInst* variable_of(llvm::Function& f, llvm::Type* type, const llvm::Twine& name) {
  llvm::BasicBlock& entry = f.getEntryBlock();
  return llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type, nullptr, name);
}

}  // namespace

llvm::AllocaInst* Function::variable(llvm::Type* type, const llvm::Twine& name) {
  return variable_of(*frame.function, type, name);
}

IrValue Function::at(std::uint64_t offset) {
  if (module.layout.is_apart(offset))
    return ir.CreateInBoundsGEP(ir.getInt8Ty(), cells,
                                constant(static_cast<std::int64_t>(offset - module.layout.header_bytes)));
  const auto distance = static_cast<std::int64_t>(offset) - static_cast<std::int64_t>(module.layout.bias);
  if (distance == 0) return state;
  return ir.CreateInBoundsGEP(ir.getInt8Ty(), state, constant(distance));
}

IrValue Function::header() {
  if (other_header != nullptr) return other_header;
  return header_at == 0 ? state : at(header_at);
}

IrValue Function::load_i64(std::uint64_t offset) { return ir.CreateLoad(module.i64(), at(offset)); }

void Function::store_i64(IrValue value, std::uint64_t offset) { ir.CreateStore(value, at(offset)); }

IrValue Function::load(DType dtype, IrValue address, Access access) {
  llvm::Type* type = memory_type(module.context, dtype);
  auto* value = ir.CreateAlignedLoad(type, address, llvm::Align(byte_size(dtype)));
  mark(value, access);
  return dtype == DType::boolean ? ir.CreateTrunc(value, ir.getInt1Ty()) : value;
}

// Loads a Boolean that the program itself has stored, and which is therefore 0 or 1.
IrValue Function::load_truth(IrValue address) {
  auto* value = ir.CreateLoad(ir.getInt8Ty(), address);
  value->setMetadata(llvm::LLVMContext::MD_range,
                     llvm::MDBuilder(module.context).createRange(llvm::APInt(8, 0), llvm::APInt(8, 2)));
  return ir.CreateTrunc(value, ir.getInt1Ty());
}

void Function::store(DType dtype, IrValue value, IrValue address, Access access) {
  if (dtype == DType::boolean) value = ir.CreateZExt(value, ir.getInt8Ty());
  mark(ir.CreateAlignedStore(value, address, llvm::Align(byte_size(dtype))), access);
}

IrValue Function::offset(DType dtype, IrValue base, IrValue index) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(index); known != nullptr && known->isZero()) return base;
  return ir.CreateInBoundsGEP(memory_type(module.context, dtype), base, index);
}

void Function::copy_bytes(IrValue to, IrValue from, DType dtype, const Shape& shape) {
  if (to == from || elements(shape) == 0) return;
  if (!small(shape)) {
    const llvm::Align align(byte_size(dtype));
    ir.CreateMemCpy(to, align, from, align, bytes(dtype, shape));
    return;
  }
  for (std::int64_t i = 0; i < elements(shape); ++i) {
    llvm::Type* type = memory_type(module.context, dtype);
    const llvm::Align align(byte_size(dtype));
    ir.CreateAlignedStore(ir.CreateAlignedLoad(type, offset(dtype, from, constant(i)), align),
                          offset(dtype, to, constant(i)), align);
  }
}

IrValue Function::cell_address(CellId cell) {
  const auto placed = cell_places_.find(cell.index);
  if (placed != cell_places_.end()) return placed->second;
  const std::uint64_t offset = module.layout.cells[cell.index];
  return module.window_of(cell) == nullptr ? at(offset) : window_address(offset);
}

IrValue Function::window_address(std::uint64_t offset) {
  return ir.CreateInBoundsGEP(ir.getInt8Ty(), at(offset + sizeof(rml_window)), load_i64(offset), "window");
}

IrValue Function::array_address(ArrayId array) {
  const steps::ArrayInfo& info = module.program.arrays[array.index];
  const auto placed = array_places_.find(array.index);
  IrValue data = placed != array_places_.end() ? placed->second
                                               : ir.CreateLoad(module.pointer(), at(module.layout.arrays[array.index]));
  auto* element =
      llvm::ArrayType::get(memory_type(module.context, info.dtype), static_cast<std::uint64_t>(elements(info.shape)));
  return ir.CreateInBoundsGEP(element, data, position);
}

void Function::forget_packs(CellId cell) {
  for (std::size_t k = 0; k < module.packs.list.size(); ++k)
    if (module.packs.list[k].cell == cell) ir.CreateStore(ir.getInt8(0), at(module.layout.pack_flags[k]));
}

IrValue Function::scratch(DType dtype, const Shape& shape, const llvm::Twine& name) {
  return scratch(dtype, shape, name, now);
}

IrValue Function::scratch(DType dtype, const Shape& shape, const llvm::Twine& name, Lifetime lifetime) {
  const std::uint64_t size = bytes(dtype, shape);
  if (elements(shape) > module.target.stack_elements || frame.stack_used + size > module.target.stack_bytes)
    return scratch(size, lifetime);
  frame.stack_used += size;
  auto* type = llvm::ArrayType::get(memory_type(module.context, dtype), static_cast<std::uint64_t>(elements(shape)));
  auto* buffer = variable(type, name);
  if (!small(shape)) buffer->setAlignment(llvm::Align(64));
  return buffer;
}

// In a piece of a parallel loop every thread has scratch of its own.
IrValue Function::scratch(std::uint64_t size, Lifetime lifetime) {
  if (frame.worker == nullptr) return at(module.layout.scratch(size, lifetime));
  const std::uint64_t apart = (size + 63) / 64 * 64;
  IrValue first = at(module.layout.scratch(apart * module.target.threads, lifetime));
  IrValue own = ir.CreateMul(frame.worker, constant(static_cast<std::int64_t>(apart)), "", true, true);
  return ir.CreateInBoundsGEP(ir.getInt8Ty(), first, own);
}

// ---- values ---------------------------------------------------------------------------------

Function::Slot& Function::slot(ValueId v) {
  Slot& slot = whole.slots[v.index];
  if (slot.storage == nullptr) {
    slot.pointer = !small(v);
    auto* element = memory_type(module.context, info(v).dtype);
    auto* dense = llvm::ArrayType::get(element, static_cast<std::uint64_t>(elements(info(v).shape)));
    auto* type = info(v).shape.empty() ? element : static_cast<llvm::Type*>(dense);
    slot.storage = variable_of(*whole.function, slot.pointer ? module.pointer() : type,
                               info(v).name.empty() ? "v" + llvm::Twine(v.index) : info(v).name);
    module.debug.variable(slot.storage, info(v), slot.pointer);
    // In a segment, instants that neither compute nor need a value may still store it to a memory or test it.
    const bool condition = info(v).dtype == DType::boolean && info(v).shape.empty();
    if ((slot.pointer || condition) && (position != nullptr || last_flag != nullptr)) {
      IrValue first = slot.pointer ? zeros(v) : llvm::Constant::getNullValue(element);
      llvm::IRBuilder<>(slot.storage->getNextNode()).CreateStore(first, slot.storage);
    }
  }
  return slot;
}

IrValue Function::zeros(ValueId v) {
  auto* element = memory_type(module.context, info(v).dtype);
  auto* type = llvm::ArrayType::get(element, static_cast<std::uint64_t>(elements(info(v).shape)));
  auto* global = new llvm::GlobalVariable(module.module, type, true, llvm::GlobalValue::PrivateLinkage,
                                          llvm::ConstantAggregateZero::get(type), "zeros");
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  global->setAlignment(llvm::Align(64));
  return global;
}

IrValue Function::scalar(ValueId v) { return element(v, constant(0)); }

IrValue Function::element(ValueId v, IrValue index, Access access) {
  if (const auto* known = std::get_if<core::Const>(&info(v).rhs)) {
    const auto* place = llvm::dyn_cast<llvm::ConstantInt>(index);
    const std::int64_t at = place != nullptr ? place->getSExtValue() : 0, count = known->value.elements();
    // The index is out of bounds. Control does not come here, because a fault precedes it.
    if (at < 0 || at >= count) return llvm::Constant::getNullValue(register_type(module.context, info(v).dtype));
    if (place != nullptr || uniform(known->value)) return element_constant(module.context, known->value, at);
  }
  return load(info(v).dtype, offset(info(v).dtype, address(v), index), access);
}

IrValue Function::address(ValueId v) {
  if (const auto* known = std::get_if<core::Const>(&info(v).rhs)) return module.tensor(known->value);
  Slot& s = slot(v);
  return s.pointer ? ir.CreateLoad(module.pointer(), s.storage) : static_cast<IrValue>(s.storage);
}

void Function::define(ValueId v, IrValue scalar) { store(info(v).dtype, scalar, slot(v).storage); }

void Function::define_at(ValueId v, IrValue address) {
  Slot& s = slot(v);
  if (s.pointer) {
    ir.CreateStore(address, s.storage);
  } else if (info(v).dtype == DType::boolean && info(v).shape.empty()) {
    define(v, load(DType::boolean, address));  // a copy of bytes would hide from LLVM that the Boolean is 0 or 1
  } else {
    copy_bytes(s.storage, address, info(v).dtype, info(v).shape);
  }
}

void Function::define_copy(ValueId v, IrValue address) { copy_bytes(result(v), address, info(v).dtype, info(v).shape); }

IrValue Function::result(ValueId v) {
  Slot& s = slot(v);
  if (!s.pointer) return s.storage;
  if (const CellId cell = home(v); cell.valid()) {
    IrValue place = cell_address(cell);
    forget_packs(cell);
    ir.CreateStore(place, s.storage);
    return place;
  }
  if (const auto output = home_output(v)) {
    ir.CreateStore(ports.outputs[*output].address, s.storage);
    return ports.outputs[*output].address;
  }
  IrValue& home = whole.homes[v.index];
  if (home == nullptr) {
    // The address is computed in the entry block, so that it dominates all computations of the value.
    llvm::IRBuilder<>::InsertPointGuard guard(ir);
    ir.SetInsertPoint(whole.function->getEntryBlock().getTerminator());
    const Lifetime lifetime = aliasing == nullptr ? Lifetime{} : aliasing->lifetime(v);
    if (frame.function == whole.function) {
      home = scratch(info(v).dtype, info(v).shape, "buffer", lifetime);
    } else {  // the buffer is put into the scratch memory, where other parts of the function find it
      ir.SetCurrentDebugLocation({});
      IrValue here = std::exchange(state, whole.state);
      home = scratch(bytes(info(v).dtype, info(v).shape), lifetime);
      state = here;
    }
  }
  ir.CreateStore(home, s.storage);
  return home;
}

}  // namespace rml::codegen
