// Emits the lead of a program. For a straight program (lowering/steps/find_lead.h) it is a function on the state of the
// program, which reads memories, stores none, and hands out the outputs that need no input of the cycle. For a program
// with units it is the lead of another program (lowering/steps/leader.h), whose cells are given the places of this
// one's.
//
// It is not known yet whether a further cycle follows. So a fault in the lead is not recorded: the outputs count as
// unknown, and the cycle itself will raise the fault.
#include "lowering/llvm/program/lead.h"

#include <algorithm>

#include "lowering/llvm/function/function.h"
#include "lowering/llvm/program/caller.h"
#include "lowering/llvm/queues/network_ring.h"
#include "lowering/llvm/statements/straight.h"
#include "lowering/steps/find_lead.h"
#include "lowering/steps/leader.h"

namespace rml::codegen {

namespace {

// Gives the inner program the layout of the whole. Slots of parameters are matched by path.
void adopt_layout(Emission& inner, const Emission& whole) {
  const std::vector<steps::ParameterInfo>& all = whole.program.parameters;
  inner.layout = whole.layout;
  inner.layout.slots.clear();
  if (whole.layout.slots.empty()) return;
  for (const steps::ParameterInfo& own : inner.program.parameters) {
    const auto row = std::ranges::find(all, own.path, &steps::ParameterInfo::path);
    inner.layout.slots.push_back(whole.layout.slots[static_cast<std::size_t>(row - all.begin())]);
  }
}

void place_memories(Function& body, Emission& whole, const steps::Leader& leader) {
  auto& ir = body.ir;
  for (std::size_t k = 0; k < leader.memories.size(); ++k) {
    const steps::Leader::Memory& memory = leader.memories[k];
    if (memory.queue.valid()) {
      IrValue pushed = body.load_i64(whole.layout.queues[memory.queue.index].pushed);
      body.place_cell(CellId{k}, network_element(body, memory.queue, ir.CreateSub(pushed, ir.getInt64(1))));
    } else if (memory.cell.valid()) {
      const std::uint64_t at = whole.layout.cells[memory.cell.index];
      const bool moves = whole.window_of(memory.cell) != nullptr;
      body.place_cell(CellId{k}, moves ? body.window_address(at) : body.at(at));
    }
  }
}

}  // namespace

llvm::Function* emit_leading_cycle(Emission& module, const llvm::Twine& name, llvm::ArrayRef<llvm::Type*> types,
                                   const std::function<void(Function&, llvm::Function*)>& place_outputs) {
  const steps::Leader* const leader = module.program.leader.get();
  steps::Program leading = leading_program(leader != nullptr ? leader->program : module.program);
  if (leader != nullptr) leading.queues = module.program.queues;
  Emission inner(leading, module.options, module);
  inner.leads = true;
  if (leader != nullptr) {
    adopt_layout(inner, module);
  } else {
    inner.layout.bias = module.layout.bias;
    inner.layout.slots = module.layout.slots;
  }
  llvm::Function* f = inner.function(name, inner.i32(), types, false);
  Function body(inner, f, inner.core.entry + " (lead)", program_span(inner), f->getArg(0));
  body.cycle = [&]() -> IrValue {
    return body.ir.CreateLoad(inner.i64(), inner.header_field(body.ir, body.state, field::pushed));
  };
  body.ports.inputs.resize(inner.core.inputs.size());
  body.ports.outputs.resize(inner.core.outputs.size());
  place_outputs(body, f);
  if (leader != nullptr) place_memories(body, module, *leader);
  emit_straight(body);
  body.finish();
  inner.debug.finish();
  module.layout.cover(inner.layout);
  return f;
}

// Emits void lead(state, out, present, known), as declared in rmlrt.h.
llvm::Function* emit_lead(Emission& module) {
  const std::vector<bool> leads = leading_outputs(module.program);
  if (std::ranges::find(leads, true) == leads.end()) return nullptr;
  llvm::Type* const pointer = module.pointer();
  const steps::Leader* const leader = module.program.leader.get();
  const auto place_outputs = [&](Function& body, llvm::Function* f) {
    for (std::size_t port = 0; port < body.ports.outputs.size(); ++port) {
      const std::size_t k = leader != nullptr ? leader->outputs[port] : port;
      if (!leads[k]) continue;
      body.ports.outputs[port].address = caller_pointer(body, f->getArg(1), k);
      if (!module.always_present(module.core.outputs[k].value))
        body.ports.outputs[port].flag = body.ir.CreateConstInBoundsGEP1_64(body.ir.getInt8Ty(), f->getArg(2), k);
    }
  };
  llvm::Function* const cycle =
      emit_leading_cycle(module, program_symbol(module, "leading"), {pointer, pointer, pointer}, place_outputs);
  llvm::Function* const f = module.function(program_symbol(module, "lead"), llvm::Type::getVoidTy(module.context),
                                            {pointer, pointer, pointer, pointer}, false);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.context, "entry", f));
  IrValue state = f->getArg(0), known = f->getArg(3);
  IrValue fault_at = module.header_field(ir, state, field::fault);
  auto* sound = llvm::BasicBlock::Create(module.context, "sound", f);
  auto* over = llvm::BasicBlock::Create(module.context, "over", f);
  ir.CreateMemSet(known, ir.getInt8(0), leads.size(), llvm::Align(1));
  ir.CreateCondBr(ir.CreateICmpEQ(ir.CreateLoad(module.i32(), fault_at), ir.getInt32(0)), sound, over);
  ir.SetInsertPoint(sound);
  IrValue is_sound = ir.CreateICmpEQ(ir.CreateCall(cycle, {state, f->getArg(1), f->getArg(2)}), ir.getInt32(0));
  ir.CreateStore(ir.getInt32(0), fault_at);
  for (std::size_t k = 0; k < leads.size(); ++k)
    if (leads[k])
      ir.CreateStore(ir.CreateZExt(is_sound, ir.getInt8Ty()), ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), known, k));
  ir.CreateBr(over);
  ir.SetInsertPoint(over);
  ir.CreateRetVoid();
  return f;
}

}  // namespace rml::codegen
