// The C interface of programs with queues and segments, with a fixed capacity that NODE_init gets.
//
// Every ring and every segment array gets room for the same number of cycles, the largest power of two that fits the
// memory. `grow` stays null, so a cycle that would need more is RML_FAULT_MEMORY. NODE_push and NODE_pop pass their
// arguments in the form of the table's functions.
#include "lowering/llvm/interface/buffered.h"
#include "lowering/llvm/function/function.h"
#include "lowering/llvm/interface/buffer_needs.h"
#include "lowering/llvm/interface/parameters.h"
#include "lowering/llvm/statements/initial.h"
#include "runtime/base/rmlrt.h"

namespace rml::codegen {

namespace {

IrValue aligned(llvm::IRBuilder<>& ir, IrValue address) {
  return ir.CreateAnd(ir.CreateAdd(address, llvm::ConstantInt::get(address->getType(), 63)),
                      llvm::ConstantInt::getSigned(address->getType(), -64));
}

// Calls f for every buffer, with the offsets of its address and of its capacity or bytes.
void for_each_buffer(Emission& module,
                     const std::function<void(std::uint64_t data_at, std::uint64_t size, bool ring)>& f) {
  for (std::size_t q = 0; q < module.program.queues.size(); ++q) {
    const steps::QueueInfo& queue = module.program.queues[q];
    if (!queue.passing)
      f(module.layout.queues[q].data, std::max<std::uint64_t>(bytes(queue.dtype, queue.shape), 1), true);
  }
  for (std::size_t a = 0; a < module.program.arrays.size(); ++a) {
    const steps::ArrayInfo& array = module.program.arrays[a];
    f(module.layout.arrays[a], std::max<std::uint64_t>(bytes(array.dtype, array.shape), 1), false);
  }
}

// Emits int NODE_init(state, memory, bytes).
void emit_init(Emission& module, const ProgramFunctions& functions) {
  auto* f = module.function(module.options.program_name + "_init", module.i32(),
                            {module.pointer(), module.pointer(), module.i64()}, true);
  Function body(module, f, module.core.entry + "_init", {}, f->getArg(0));
  auto& ir = body.ir;
  const BufferNeeds needs = buffer_needs(module.program);
  auto* per_cycle = ir.getInt64(needs.bytes_per_cycle);
  auto* rounding = ir.getInt64(64 * (needs.buffers + 1));
  body.locate({});
  const auto fits = [&](IrValue n) {
    return ir.CreateICmpULE(ir.CreateAdd(ir.CreateMul(n, per_cycle), rounding), f->getArg(2));
  };
  ir.CreateMemSet(body.state, ir.getInt8(0), module.module.getDataLayout().getTypeAllocSize(module.abi.header),
                  llvm::Align(4));
  ir.CreateCall(functions.init, {body.state});
  body.when(ir.CreateNot(fits(ir.getInt64(1))), [&] {
    body.leave_with(ir.getInt32(RML_FAULT_MEMORY));
    ir.SetInsertPoint(body.new_block("never"));
  });
  auto* before = ir.GetInsertBlock();
  auto *test = body.new_block("test"), *carve = body.new_block("carve");
  ir.CreateBr(test);
  ir.SetInsertPoint(test);
  auto* n = ir.CreatePHI(module.i64(), 2, "cycles");
  IrValue doubled = ir.CreateShl(n, 1);
  n->addIncoming(ir.getInt64(1), before);
  n->addIncoming(doubled, test);
  ir.CreateCondBr(fits(doubled), test, carve);
  ir.SetInsertPoint(carve);
  auto* word = module.module.getDataLayout().getIntPtrType(module.context);
  IrValue address = aligned(ir, ir.CreatePtrToInt(f->getArg(1), word));
  for_each_buffer(module, [&](std::uint64_t data_at, std::uint64_t size, bool ring) {
    IrValue size_in_bytes = ir.CreateMul(n, ir.getInt64(size));
    ir.CreateStore(ir.CreateIntToPtr(address, module.pointer()), body.at(data_at));
    body.store_i64(ring ? static_cast<IrValue>(n) : size_in_bytes, data_at + 8);
    address = aligned(ir, ir.CreateAdd(address, ir.CreateIntCast(size_in_bytes, word, false)));
  });
  for (const UnitLayout& unit : module.layout.units) {
    if (!unit.array_ids.empty()) body.store_i64(n, unit.capacity);
  }
  ir.CreateStore(ir.CreateMul(n, per_cycle), module.header_field(ir, body.state, field::buffer_bytes));
  body.finish();
}

// void NODE_reset(state): returns to the first cycle, with the same buffers.
void emit_reset(Emission& module) {
  auto* inner = module.function(module.options.program_name + "_reset.body", module.i32(), {module.pointer()}, false);
  Function body(module, inner, module.core.entry + "_reset", {}, inner->getArg(0));
  const auto* header = module.module.getDataLayout().getStructLayout(module.abi.header);
  IrValue held_at = module.header_field(body.ir, body.state, field::buffer_bytes);
  IrValue held = body.ir.CreateLoad(module.i64(), held_at);
  const std::uint64_t from = header->getElementOffset(field::pushed);
  body.ir.CreateMemSet(body.at(from), body.ir.getInt8(0), header->getSizeInBytes().getFixedValue() - from,
                       llvm::Align(4));
  body.ir.CreateStore(held, held_at);
  emit_initial_values(body);
  body.finish();
  auto* f = module.function(module.options.program_name + "_reset", llvm::Type::getVoidTy(module.context),
                            {module.pointer()}, true);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.context, "entry", f));
  ir.CreateCall(inner, {f->getArg(0)});
  ir.CreateRetVoid();
}

struct Call {
  Emission& module;
  const std::vector<InterfaceParameter> list;
  const std::vector<Port>& ports;

  bool by_value(const InterfaceParameter& p) const {
    return p.role == InterfaceParameter::input_present ||
           (p.role == InterfaceParameter::input && module.core[ports[p.port].value].shape.empty());
  }
  llvm::Function* declare(const char* what) const {
    std::vector<llvm::Type*> types = {module.pointer()};
    for (const InterfaceParameter& p : list) {
      const DType dtype = p.role == InterfaceParameter::input ? module.core[ports[p.port].value].dtype : DType::boolean;
      types.push_back(by_value(p) ? memory_type(module.context, dtype) : module.pointer());
    }
    auto* f = module.function(module.options.program_name + what, module.i32(), types, true);
    for (unsigned k = 0; k < list.size(); ++k) {
      if (!types[k + 1]->isIntegerTy() || types[k + 1]->getIntegerBitWidth() >= 32) continue;
      const bool sign =
          list[k].role == InterfaceParameter::input && is_signed(module.core[ports[list[k].port].value].dtype);
      f->addParamAttr(k + 1, sign ? llvm::Attribute::SExt : llvm::Attribute::ZExt);
    }
    return f;
  }
  // Passes the arguments as arrays of addresses and of flags.
  void emit(const char* what, llvm::Function* table_function) const {
    auto* f = declare(what);
    llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.context, "entry", f));
    const std::uint64_t n = std::max<std::size_t>(ports.size(), 1);
    auto* addresses = ir.CreateAlloca(llvm::ArrayType::get(module.pointer(), n));
    auto* flags = ir.CreateAlloca(llvm::ArrayType::get(ir.getInt8Ty(), n));
    const auto flag = [&](std::uint32_t port) { return ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), flags, port); };
    for (unsigned k = 0; k < list.size(); ++k) {
      const InterfaceParameter& p = list[k];
      IrValue argument = f->getArg(k + 1);
      if (p.role == InterfaceParameter::input_present) ir.CreateStore(argument, flag(p.port));
      if (p.role != InterfaceParameter::input && p.role != InterfaceParameter::output) continue;
      if (by_value(p)) {
        auto* spilled = ir.CreateAlloca(argument->getType());
        ir.CreateStore(argument, spilled);
        argument = spilled;
      }
      ir.CreateStore(argument, ir.CreateConstInBoundsGEP1_64(module.pointer(), addresses, p.port));
    }
    IrValue code = ir.CreateCall(table_function, {f->getArg(0), addresses, flags});
    for (unsigned k = 0; k < list.size(); ++k) {
      if (list[k].role != InterfaceParameter::output_present) continue;
      IrValue present = ir.CreateAnd(ir.CreateLoad(ir.getInt8Ty(), flag(list[k].port)),
                                     ir.CreateIntCast(code, ir.getInt8Ty(), false));
      ir.CreateStore(present, f->getArg(k + 1));
    }
    ir.CreateRet(code);
  }
};

}  // namespace

StateStruct emit_buffered_interface(Emission& module, const ProgramFunctions& functions) {
  emit_init(module, functions);
  emit_reset(module);
  Call{module, input_parameters(module.core), module.core.inputs}.emit("_push", functions.push);
  Call{module, output_parameters(module.core), module.core.outputs}.emit("_pop", functions.pop);
  StateStruct found;
  found.size = module.layout.state_bytes();
  found.hash = interface_hash(module, found);
  emit_stamped_init(module, found.hash);
  return found;
}

}  // namespace rml::codegen
