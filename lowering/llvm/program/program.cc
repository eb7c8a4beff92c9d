// Emits init, push, finish, pop and destroy, which the host calls (rmlrt.h).
//
// In a straight program push is the step itself: it reads through the caller's pointers and leaves outputs in slots of
// the state, which pop hands out. In any other program push enqueues the inputs and then runs every unit, in order, as
// long as it has operands:
//
//   for each unit: while (ready(unit)) { fault = instant(unit); if (fault) return fault; }
#include "lowering/llvm/program/program.h"

#include <algorithm>
#include <cstddef>

#include "lowering/llvm/function/function.h"
#include "lowering/llvm/program/caller.h"
#include "lowering/llvm/program/lead.h"
#include "lowering/llvm/program/network.h"
#include "lowering/llvm/program/on_demand.h"
#include "lowering/llvm/program/unit.h"
#include "lowering/llvm/queues/operands.h"
#include "lowering/llvm/queues/queue.h"
#include "lowering/llvm/statements/initial.h"
#include "lowering/llvm/statements/straight.h"
#include "runtime/base/rmlrt.h"

namespace rml::codegen {

namespace {

// Returns immediately if the state is faulted.
void leave_if_faulted(Function& body) {
  body.leave_unless_zero(
      body.ir.CreateLoad(body.module.i32(), body.module.header_field(body.ir, body.state, field::fault)));
}

void count(Function& body, unsigned header_field) {
  IrValue at = body.module.header_field(body.ir, body.state, header_field);
  body.ir.CreateStore(body.ir.CreateAdd(body.ir.CreateLoad(body.module.i64(), at), body.ir.getInt64(1)), at);
}

void set_cycle_from_header(Function& body) {
  body.cycle = [&body]() -> IrValue {
    return body.ir.CreateLoad(body.module.i64(), body.module.header_field(body.ir, body.state, field::pushed));
  };
}

llvm::Function* emit_straight_push(Emission& module) {
  auto* f = module.function(program_symbol(module, "push"), module.i32(),
                            {module.pointer(), module.pointer(), module.pointer()}, false);
  for (unsigned k = 0; k < 3; ++k) f->addParamAttr(k, llvm::Attribute::NoAlias);
  Function body(module, f, module.core.entry, program_span(module), f->getArg(0));
  set_cycle_from_header(body);
  leave_if_faulted(body);
  body.tells_places = true;
  body.enter(module.new_place(program_span(module), "the rest of the cycle"));
  for (std::size_t k = 0; k < module.core.inputs.size(); ++k) {
    PortPlaces::Input input;
    input.address = caller_pointer(body, f->getArg(1), k);
    if (!module.always_present(module.core.inputs[k].value)) input.present = caller_flag(body, f->getArg(2), k);
    body.ports.inputs.push_back(input);
  }
  for (std::size_t k = 0; k < module.core.outputs.size(); ++k) {
    PortPlaces::Output output;
    output.address = body.at(module.layout.output_values[k]);
    if (!module.always_present(module.core.outputs[k].value)) output.flag = body.at(module.layout.output_flags[k]);
    body.ports.outputs.push_back(output);
  }
  emit_straight(body);
  count(body, field::pushed);
  body.finish();
  return f;
}

llvm::Function* emit_straight_pop(Emission& module) {
  auto* f = module.function(program_symbol(module, "pop"), module.i32(),
                            {module.pointer(), module.pointer(), module.pointer()}, false);
  Function body(module, f, module.core.entry + " (pop)", {}, f->getArg(0));
  auto& ir = body.ir;
  IrValue pushed = ir.CreateLoad(module.i64(), module.header_field(ir, body.state, field::pushed));
  IrValue popped = ir.CreateLoad(module.i64(), module.header_field(ir, body.state, field::popped));
  body.when(ir.CreateICmpSGE(popped, pushed), [&] {
    body.leave_with(ir.getInt32(0));
    ir.SetInsertPoint(body.new_block("never"));
  });
  for (std::size_t k = 0; k < module.core.outputs.size(); ++k) {
    const ValueId v = module.core.outputs[k].value;
    const Value& value = module.core[v];
    IrValue flag_at = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), f->getArg(2), k);
    const auto copy = [&] {
      body.copy_bytes(caller_pointer(body, f->getArg(1), k), body.at(module.layout.output_values[k]), value.dtype,
                      value.shape);
    };
    if (module.always_present(v)) {
      ir.CreateStore(ir.getInt8(1), flag_at);
      copy();
      continue;
    }
    IrValue present = ir.CreateLoad(ir.getInt8Ty(), body.at(module.layout.output_flags[k]));
    ir.CreateStore(present, flag_at);
    body.when(ir.CreateICmpNE(present, ir.getInt8(0)), copy);
  }
  count(body, field::popped);
  body.finish({}, 1);
  return f;
}

IrValue unit_ready(Function& body, std::uint32_t index) {
  Emission& module = body.module;
  const steps::Unit& unit = module.program.units[index];
  if (unit.clock == never_clock) return body.ir.getFalse();
  IrValue ready = is_ready(body, unit.operands);
  for (const std::uint32_t input : unit.raw_inputs) {
    ready = body.ir.CreateAnd(ready, waiting(body, module.program.input_flags[input], 0));
  }
  // An operand that is present at every instant arrives at most once per cycle. Without one, cycles are counted.
  const bool paced = !unit.raw_inputs.empty() ||
                     std::any_of(unit.operands.begin(), unit.operands.end(),
                                 [](const auto& operand) { return operand.when.empty() && !operand.once; });
  if (!paced && unit.clock == base_clock) {
    IrValue pushed = body.ir.CreateLoad(module.i64(), module.header_field(body.ir, body.state, field::pushed));
    ready = body.ir.CreateAnd(ready, body.ir.CreateICmpSLE(body.load_i64(module.layout.units[index].cycle), pushed));
  }
  return ready;
}

llvm::Function* emit_push(Emission& module, const std::vector<llvm::Function*>& instants) {
  auto* f = module.function(program_symbol(module, "push"), module.i32(),
                            {module.pointer(), module.pointer(), module.pointer()}, false);
  Function body(module, f, module.core.entry + " (push)", {}, f->getArg(0));
  body.given = f->getArg(1);
  set_cycle_from_header(body);
  leave_if_faulted(body);
  for (std::size_t k = 0; k < module.core.inputs.size(); ++k) enqueue(body, k, f->getArg(1), f->getArg(2));
  for (std::uint32_t u = 0; u < instants.size(); ++u) {
    auto *test = body.new_block("test"), *run = body.new_block("run"), *next = body.new_block("next");
    body.ir.CreateBr(test);
    body.ir.SetInsertPoint(test);
    body.ir.CreateCondBr(unit_ready(body, u), run, next);
    body.ir.SetInsertPoint(run);
    body.leave_unless_zero(body.ir.CreateCall(instants[u], {body.state, body.given}));
    body.ir.CreateBr(test);
    body.ir.SetInsertPoint(next);
  }
  count(body, field::pushed);
  body.finish();
  return f;
}

llvm::Function* emit_pop(Emission& module) {
  auto* f = module.function(program_symbol(module, "pop"), module.i32(),
                            {module.pointer(), module.pointer(), module.pointer()}, false);
  Function body(module, f, module.core.entry + " (pop)", {}, f->getArg(0));
  auto& ir = body.ir;
  const steps::Emitter& emitter = module.program.emitter;
  IrValue pushed = ir.CreateLoad(module.i64(), module.header_field(ir, body.state, field::pushed));
  IrValue popped = ir.CreateLoad(module.i64(), module.header_field(ir, body.state, field::popped));
  IrValue ready = ir.CreateAnd(is_ready(body, emitter.operands), ir.CreateICmpSLT(popped, pushed));
  body.when(ir.CreateNot(ready), [&] {
    body.leave_with(ir.getInt32(0));
    ir.SetInsertPoint(body.new_block("never"));
  });
  pop_operands(body, emitter.operands);
  emit_row(body, f->getArg(1), f->getArg(2));
  count(body, field::popped);
  body.finish({}, 1);
  return f;
}

llvm::Function* emit_init(Emission& module) {
  auto* f = module.function(program_symbol(module, "init"), llvm::Type::getInt32Ty(module.context), {module.pointer()},
                            false);
  Function body(module, f, module.core.entry + " (init)", {}, f->getArg(0));
  const auto* header = module.module.getDataLayout().getStructLayout(module.abi.header);
  const std::uint64_t from = header->getElementOffset(field::pushed), cells = module.layout.header_bytes;
  const auto clear = [&](std::uint64_t begin, std::uint64_t end) {
    if (begin < end) body.ir.CreateMemSet(body.at(begin), body.ir.getInt8(0), end - begin, llvm::Align(8));
  };
  if (module.layout.apart == 0) {
    clear(from, module.layout.fixed_bytes);
  } else {
    clear(from, offsetof(rml_header, cells));
    clear(cells, cells + module.layout.apart);
    clear(cells + module.layout.apart, module.layout.fixed_bytes);
  }
  emit_initial_values(body);
  body.finish();
  auto* outer = module.function(program_symbol(module, "start"), llvm::Type::getVoidTy(module.context),
                                {module.pointer()}, false);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.context, "entry", outer));
  ir.CreateCall(f, {outer->getArg(0)});
  ir.CreateRetVoid();
  return outer;
}

// Emits `finish`. It sets header.waiting to the first cut whose segment has begun and not ended.
llvm::Function* emit_finish(Emission& module) {
  auto* f = module.function(program_symbol(module, "finish"), module.i32(), {module.pointer()}, false);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.context, "entry", f));
  IrValue waiting = ir.getInt32(UINT32_MAX);
  for (std::size_t u = module.program.units.size(); u-- > 0;) {
    const steps::Unit& unit = module.program.units[u];
    if (!unit.segmented) continue;
    IrValue length = ir.CreateLoad(
        module.i64(), ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), f->getArg(0), module.layout.units[u].length));
    waiting = ir.CreateSelect(ir.CreateICmpSGT(length, ir.getInt64(0)), ir.getInt32(unit.cut_index), waiting);
  }
  ir.CreateStore(waiting, module.header_field(ir, f->getArg(0), field::waiting));
  ir.CreateRet(ir.CreateLoad(module.i32(), module.header_field(ir, f->getArg(0), field::fault)));
  return f;
}

// A block of memory that the program may have requested: the offsets in its state of the address and of the number of
// elements, and the bytes of an element.
struct Asked {
  std::uint64_t address, count, size;
};
std::vector<Asked> find_asked(const Emission& module) {
  std::vector<Asked> found;
  for (std::size_t q = 0; q < module.program.queues.size(); ++q) {
    const steps::QueueInfo& queue = module.program.queues[q];
    found.push_back({module.layout.queues[q].data, module.layout.queues[q].capacity,
                     std::max<std::uint64_t>(bytes(queue.dtype, queue.shape), 1)});
  }
  for (const UnitLayout& unit : module.layout.units)
    for (const std::uint32_t a : unit.array_ids)
      found.push_back({module.layout.arrays[a], module.layout.arrays[a] + 8, 1});
  return found;
}

// Releases the blocks in the rows of the table. A block that was never requested is released as null with 0 bytes,
// which hosts ignore.
void give_back(Emission& module, llvm::IRBuilder<>& ir, IrValue state, const std::vector<Asked>& asked) {
  constexpr std::uint64_t columns = 3;
  std::vector<llvm::Constant*> rows;
  for (const Asked& a : asked)
    for (const std::uint64_t entry : {a.address, a.count, a.size}) rows.push_back(ir.getInt64(entry));
  llvm::Function* f = ir.GetInsertBlock()->getParent();
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(module.context, name, f); };
  auto *entry = ir.GetInsertBlock(), *row = block("row"), *free = block("free"), *next = block("next"),
       *done = block("done");
  llvm::Constant* const table = module.table("asked", module.i64(), rows);
  ir.CreateBr(row);
  ir.SetInsertPoint(row);
  auto* k = ir.CreatePHI(module.i64(), 2);
  k->addIncoming(ir.getInt64(0), entry);
  const auto column = [&](std::uint64_t c) {
    return ir.CreateLoad(module.i64(), ir.CreateInBoundsGEP(module.i64(), table, ir.CreateAdd(k, ir.getInt64(c))));
  };
  const auto place = [&](std::uint64_t c) { return ir.CreateInBoundsGEP(ir.getInt8Ty(), state, column(c)); };
  IrValue address_at = place(0);
  IrValue address = ir.CreateLoad(module.pointer(), address_at);
  ir.CreateCondBr(ir.CreateIsNull(address), next, free);
  ir.SetInsertPoint(free);
  IrValue count_at = place(1);
  IrValue count = ir.CreateLoad(module.i64(), count_at);
  IrValue size = ir.CreateMul(column(2), count);
  ir.CreateCall(module.grow(), {state, address, size, ir.getInt64(0)});
  ir.CreateStore(llvm::ConstantPointerNull::get(module.pointer()), address_at);
  ir.CreateStore(ir.getInt64(0), count_at);
  ir.CreateBr(next);
  ir.SetInsertPoint(next);
  IrValue following = ir.CreateAdd(k, ir.getInt64(columns));
  k->addIncoming(following, next);
  ir.CreateCondBr(ir.CreateICmpULT(following, ir.getInt64(rows.size())), row, done);
  ir.SetInsertPoint(done);
}

llvm::Function* emit_destroy(Emission& module) {
  auto* f = module.function(program_symbol(module, "destroy"), llvm::Type::getVoidTy(module.context),
                            {module.pointer()}, false);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.context, "entry", f));
  IrValue state = f->getArg(0);
  if (const std::vector<Asked> asked = find_asked(module); !asked.empty()) give_back(module, ir, state, asked);
  for (const UnitLayout& unit : module.layout.units)
    if (!unit.array_ids.empty())
      ir.CreateStore(ir.getInt64(0), ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), state, unit.capacity));
  ir.CreateRetVoid();
  return f;
}

}  // namespace

ProgramFunctions emit_program(Emission& module) {
  if (module.program.on_demand != nullptr) return emit_on_demand(module);
  ProgramFunctions functions;
  if (module.program.straight) {
    functions.push = emit_straight_push(module);
    functions.pop = emit_straight_pop(module);
  } else if (module.program.network) {
    emit_network(module, functions);
  } else {
    std::vector<llvm::Function*> instants;
    for (std::uint32_t u = 0; u < module.program.units.size(); ++u) instants.push_back(emit_unit(module, u).instant);
    functions.push = emit_push(module, instants);
    functions.pop = emit_pop(module);
  }
  // The C interface has no lead for programs with units, and no lead is requested for programs with keys.
  const bool tells_lead = (module.options.with_program || module.options.with_main) && module.layout.apart == 0;
  if (tells_lead) functions.lead = emit_lead(module);
  functions.init = emit_init(module);
  functions.finish = emit_finish(module);
  functions.destroy = emit_destroy(module);
  return functions;
}

}  // namespace rml::codegen
