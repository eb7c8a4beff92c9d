// Emits NODE_init, NODE_reset, NODE_lead, NODE_step, NODE_advance and NODE_run of straight programs.
//
// NODE_advance has the fewest arguments and stores, because the next value of a delay is in the state anyway.
//
// NODE_run is the step in a loop over cycles. Cells that fit registers are copied into locals before the loop and back
// after it, so no store to the state separates the arithmetic of two cycles:
//
//   s = state->s;  for (i = 0; i < n; ++i) { y[i] = s + x[i]; s = y[i]; }  state->s = s;
//
// A large step is called instead: a copy of it would gain little compared with its running time, and would double the
// compile time. rml_program::run is the same loop over the state of a program; if a step takes long, it calls push and
// pop.
#include "lowering/llvm/interface/step.h"

#include <algorithm>
#include <utility>

#include "lowering/llvm/function/function.h"
#include "lowering/llvm/interface/executed.h"
#include "lowering/llvm/interface/faults.h"
#include "lowering/llvm/interface/groups.h"
#include "lowering/llvm/interface/parameters.h"
#include "lowering/llvm/interface/pieces.h"
#include "lowering/llvm/interface/step_many.h"
#include "lowering/llvm/interface/wide_step.h"
#include "lowering/llvm/lanes/refused.h"
#include "lowering/llvm/program/caller.h"
#include "lowering/llvm/program/lead.h"
#include "lowering/llvm/statements/initial.h"
#include "lowering/llvm/statements/straight.h"
#include "lowering/steps/leader.h"
#include "runtime/base/rmlrt.h"

namespace rml::codegen {

namespace {

struct StepInterface {
  Emission& module;
  const bool table = false;  // true: for the table of a program, whose header counts cycles; false: for a library
  const bool faults = can_fault(module.program);
  const bool counts = faults || table;
  const bool header = counts || draws(module.program);
  std::vector<InterfaceParameter> list = input_parameters(module.core);
  bool large = false;  // true if the step is too large to be inlined

  std::string symbol(const char* what) const { return module.options.program_name + what; }
  bool by_value(const InterfaceParameter& p) const {
    return p.role == InterfaceParameter::input_present ||
           (p.role == InterfaceParameter::input && module.core[module.core.inputs[p.port].value].shape.empty());
  }
  DType dtype(const InterfaceParameter& p) const { return dtype_of(module.core, p); }
  llvm::Function* declare(const char* what, llvm::Type* result, bool exported, bool arrays);
  void export_as(llvm::Function* inner, const char* what, bool arrays);
  void emit_init(const char* what, bool keep_seed);
  void emit_seed();
  llvm::Function* emit_body(const char* what, bool keep_outputs);
  llvm::Function* emit_step(const char* what, bool keep_outputs);
  CellId holder(std::size_t output) const;
  std::uint64_t output_place(std::size_t output) const;
  // Outputs that NODE_get_… reads and that no cell holds, with their offsets.
  std::vector<std::pair<std::size_t, std::uint64_t>> slots() const;
  void keep(Function& body, std::size_t output, std::uint64_t slot, IrValue from) const;
  void keep_last(Function& body, llvm::Function* run, IrValue cycles) const;
  IrValue row(llvm::IRBuilder<>&, const InterfaceParameter&, IrValue array, IrValue i) const;
  void place_ports(Function&, llvm::Function*, IrValue i);
  void emit_lead();
  llvm::Function* emit_run();
  void emit_run_of_calls(llvm::Function* step);
  llvm::Function* emit_run_of_rows(llvm::Function* push, llvm::Function* pop);
};

// Declares a function (state, [n,] ports…). If `arrays` is true, every port is passed by pointer.
llvm::Function* StepInterface::declare(const char* what, llvm::Type* result, bool exported, bool arrays) {
  std::vector<llvm::Type*> types = {module.pointer()};
  if (arrays) types.push_back(module.i64());
  for (const InterfaceParameter& p : list) {
    types.push_back(!arrays && by_value(p) ? memory_type(module.context, dtype(p)) : module.pointer());
  }
  auto* f = module.function(symbol(what), result, types, exported);
  const unsigned first = arrays ? 2 : 1;
  f->addParamAttr(0, llvm::Attribute::NoAlias);
  for (unsigned k = 0; k < list.size(); ++k) {
    llvm::Type* type = types[k + first];
    if (type->isPointerTy()) f->addParamAttr(k + first, llvm::Attribute::NoAlias);
    if (type->isIntegerTy() && type->getIntegerBitWidth() < 32) {
      f->addParamAttr(k + first, is_signed(dtype(list[k])) ? llvm::Attribute::SExt : llvm::Attribute::ZExt);
    }
  }
  return f;
}

// Exports the function; it returns nothing if no cycle can fault.
void StepInterface::export_as(llvm::Function* inner, const char* what, bool arrays) {
  auto* outer = declare(what, faults ? module.i32() : llvm::Type::getVoidTy(module.context), true, arrays);
  if (!large) inner->addFnAttr(llvm::Attribute::AlwaysInline);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.context, "entry", outer));
  std::vector<IrValue> arguments;
  for (llvm::Argument& argument : outer->args()) arguments.push_back(&argument);
  IrValue code = ir.CreateCall(inner, arguments);
  if (faults)
    ir.CreateRet(code);
  else
    ir.CreateRetVoid();
}

void StepInterface::emit_init(const char* what, bool keep_seed) {
  auto* inner = module.function(symbol(what) + ".body", module.i32(), {module.pointer()}, false);
  inner->addFnAttr(llvm::Attribute::AlwaysInline);
  Function body(module, inner, module.core.entry + what, {}, inner->getArg(0));
  if (header) {
    IrValue seed_at = module.header_field(body.ir, body.state, field::seed);
    IrValue seed = keep_seed ? static_cast<IrValue>(body.ir.CreateLoad(module.i64(), seed_at)) : body.ir.getInt64(0);
    body.ir.CreateMemSet(body.state, body.ir.getInt8(0),
                         module.module.getDataLayout().getTypeAllocSize(module.abi.header), llvm::Align(4));
    body.ir.CreateStore(seed, seed_at);
  }
  emit_initial_values(body);
  for (const auto& [output, slot] : slots()) {
    const DType dtype = module.core[module.core.outputs[output].value].dtype;
    body.ir.CreateStore(llvm::Constant::getNullValue(memory_type(module.context, dtype)), body.at(slot));
  }
  body.finish();
  auto* outer = module.function(symbol(what), llvm::Type::getVoidTy(module.context), {module.pointer()}, true);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.context, "entry", outer));
  ir.CreateCall(inner, {outer->getArg(0)});
  ir.CreateRetVoid();
}

void StepInterface::emit_seed() {
  auto* f =
      module.function(symbol("_seed"), llvm::Type::getVoidTy(module.context), {module.pointer(), module.i64()}, true);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.context, "entry", f));
  ir.CreateStore(f->getArg(1), module.header_field(ir, f->getArg(0), field::seed));
  ir.CreateRetVoid();
}

// The element for cycle i in an array of NODE_run.
IrValue StepInterface::row(llvm::IRBuilder<>& ir, const InterfaceParameter& p, IrValue array, IrValue i) const {
  const Port& port = p.role <= InterfaceParameter::input ? module.core.inputs[p.port] : module.core.outputs[p.port];
  const bool is_value = p.role == InterfaceParameter::input || p.role == InterfaceParameter::output;
  const std::int64_t n = is_value ? elements(module.core[port.value].shape) : 1;
  auto* type = llvm::ArrayType::get(memory_type(module.context, dtype(p)), static_cast<std::uint64_t>(n));
  return ir.CreateInBoundsGEP(type, array, i);
}

// Sets the places of the ports. `i` is the position of the cycle in the arrays of NODE_run; null in NODE_step.
void StepInterface::place_ports(Function& body, llvm::Function* f, IrValue i) {
  auto& ir = body.ir;
  body.ports.inputs.assign(module.core.inputs.size(), {});
  body.ports.outputs.assign(module.core.outputs.size(), {});
  for (unsigned k = 0; k < list.size(); ++k) {
    const InterfaceParameter& p = list[k];
    IrValue argument = f->getArg(k + (i != nullptr ? 2 : 1));
    if (i != nullptr) argument = row(ir, p, argument, i);
    const auto truth = [&](IrValue byte) { return ir.CreateICmpNE(byte, ir.getInt8(0)); };
    switch (p.role) {
      case InterfaceParameter::input_present:
        body.ports.inputs[p.port].present = truth(i != nullptr ? ir.CreateLoad(ir.getInt8Ty(), argument) : argument);
        break;
      case InterfaceParameter::input:
        if (i == nullptr && by_value(p))
          body.ports.inputs[p.port].scalar = dtype(p) == DType::boolean ? truth(argument) : argument;
        else
          body.ports.inputs[p.port].address = argument;
        break;
      case InterfaceParameter::output_present:
        body.ports.outputs[p.port].flag = argument;
        break;
      case InterfaceParameter::output:
        body.ports.outputs[p.port].address = argument;
        break;
    }
  }
}

// The cell that holds the output's value after each cycle, such as the cell of a delay of the output.
CellId StepInterface::holder(std::size_t output) const {
  for (std::size_t k = 0; k < module.program.cells.size(); ++k) {
    const steps::CellInfo& cell = module.program.cells[k];
    if (cell.local || !cell.fby.valid() || module.core[cell.fby].clock != base_clock) continue;
    const auto* fby = std::get_if<core::Fby>(&module.core[cell.fby].rhs);
    if (fby != nullptr && fby->next == module.core.outputs[output].value) return CellId(k);
  }
  return {};
}

std::uint64_t StepInterface::output_place(std::size_t output) const {
  const CellId cell = holder(output);
  return cell.valid() ? module.layout.cells[cell.index] : module.layout.output_values[output];
}

std::vector<std::pair<std::size_t, std::uint64_t>> StepInterface::slots() const {
  std::vector<std::pair<std::size_t, std::uint64_t>> result;
  for (std::size_t k = 0; has_advance(module.core) && k < module.core.outputs.size(); ++k)
    if (!holder(k).valid()) result.emplace_back(k, module.layout.output_values[k]);
  return result;
}

void StepInterface::keep(Function& body, std::size_t output, std::uint64_t slot, IrValue from) const {
  body.copy_bytes(body.at(slot), from, module.core[module.core.outputs[output].value].dtype, {});
}

// Keeps the outputs that NODE_run left in the last of that many rows. Without a row, kept outputs stay.
void StepInterface::keep_last(Function& body, llvm::Function* run, IrValue cycles) const {
  auto& ir = body.ir;
  IrValue any = ir.CreateICmpNE(cycles, ir.getInt64(0)), last = ir.CreateSub(cycles, ir.getInt64(1));
  for (const auto& [output, slot] : slots()) {
    const auto p = std::ranges::find_if(list, [&, k = output](const InterfaceParameter& q) {
      return q.role == InterfaceParameter::output && q.port == k;
    });
    IrValue array = run->getArg(static_cast<unsigned>(p - list.begin()) + 2);
    keep(body, output, slot, ir.CreateSelect(any, row(ir, *p, array, last), body.at(slot)));
  }
}

// For functions of a program, the host counts cycles and checks for faults.
llvm::Function* StepInterface::emit_body(const char* what, bool keep_outputs) {
  auto* inner = declare((std::string(what) + ".body").c_str(), module.i32(), false, false);
  Function body(module, inner, module.core.entry, program_span(module), inner->getArg(0));
  const auto pushed = [&] { return module.header_field(body.ir, body.state, field::pushed); };
  body.cycle = [&]() -> IrValue { return body.ir.CreateLoad(module.i64(), pushed()); };
  if (faults && !table)
    body.leave_unless_zero(body.ir.CreateLoad(module.i32(), module.header_field(body.ir, body.state, field::fault)));
  place_ports(body, inner, nullptr);
  for (std::size_t k = 0; keep_outputs && k < body.ports.outputs.size(); ++k)
    if (!holder(k).valid()) body.ports.outputs[k].address = body.at(module.layout.output_values[k]);
  emit_straight(body);
  if (!keep_outputs && !table)
    for (const auto& [output, slot] : slots()) keep(body, output, slot, body.ports.outputs[output].address);
  if (faults && !table) body.ir.CreateStore(body.ir.CreateAdd(body.cycle(), body.ir.getInt64(1)), pushed());
  body.finish();
  return inner;
}

llvm::Function* StepInterface::emit_step(const char* what, bool keep_outputs) {
  const unsigned before = module.module.getInstructionCount();
  llvm::Function* const inner = emit_body(what, keep_outputs);
  large = module.module.getInstructionCount() - before > module.target.large_step;
  export_as(inner, what, false);
  return inner;
}

void StepInterface::emit_lead() {
  const auto place_outputs = [&](Function& body, llvm::Function* f) {
    if (faults)
      body.leave_unless_zero(body.ir.CreateLoad(module.i32(), module.header_field(body.ir, body.state, field::fault)));
    for (unsigned k = 0; k < list.size(); ++k) {
      PortPlaces::Output& output = body.ports.outputs[list[k].port];
      (list[k].role == InterfaceParameter::output ? output.address : output.flag) = f->getArg(k + 1);
    }
  };
  const std::vector<llvm::Type*> types(list.size() + 1, module.pointer());
  export_as(emit_leading_cycle(module, symbol("_lead.body"), types, place_outputs), "_lead", false);
}

// A fault leaves the loop. The step itself counts cycles.
void StepInterface::emit_run_of_calls(llvm::Function* step) {
  auto* inner = declare("_run.body", module.i32(), false, true);
  Function body(module, inner, module.core.entry + " (run)", program_span(module), inner->getArg(0));
  auto& ir = body.ir;
  body.loop(static_cast<IrValue>(inner->getArg(1)), [&](IrValue i) {
    std::vector<IrValue> arguments = {inner->getArg(0)};
    for (unsigned k = 0; k < list.size(); ++k) {
      IrValue place = row(ir, list[k], inner->getArg(k + 2), i);
      arguments.push_back(by_value(list[k]) ? ir.CreateLoad(memory_type(module.context, dtype(list[k])), place)
                                            : place);
    }
    IrValue code = ir.CreateCall(step, arguments);
    if (faults) body.leave_unless_zero(code);
  });
  body.finish();
  export_as(inner, "_run", true);
}

// The loop with the step inlined. An exported function calls it.
llvm::Function* StepInterface::emit_run() {
  auto* inner = declare("_run.body", module.i32(), false, true);
  Function body(module, inner, module.core.entry + " (run)", program_span(module), inner->getArg(0));
  auto& ir = body.ir;
  auto* done = body.variable(module.i64(), "done");
  ir.CreateStore(ir.getInt64(0), done);
  std::vector<std::pair<CellId, IrValue>> locals;
  for (std::size_t k = 0; k < module.program.cells.size(); ++k) {
    const steps::CellInfo& cell = module.program.cells[k];
    if (cell.local || elements(cell.shape) > module.target.unrolled_elements) continue;
    IrValue local = body.scratch(cell.dtype, cell.shape, cell.name, Lifetime{});
    body.copy_bytes(local, body.cell_address(CellId(k)), cell.dtype, cell.shape);
    locals.emplace_back(CellId(k), local);
  }
  const auto stored = [&](CellId cell) { return body.at(module.layout.cells[cell.index]); };
  for (const auto& [cell, local] : locals) body.place_cell(cell, local);
  const auto pushed = [&] { return module.header_field(ir, body.state, field::pushed); };
  body.cycle = [&]() -> IrValue {
    return ir.CreateAdd(ir.CreateLoad(module.i64(), pushed()), ir.CreateLoad(module.i64(), done));
  };
  const auto write_back = [&] {
    for (const auto& [id, local] : locals) {
      const steps::CellInfo& cell = module.program.cells[id.index];
      body.copy_bytes(stored(id), local, cell.dtype, cell.shape);
    }
    if (table)
      for (const unsigned counter : {field::popped, field::pushed}) {
        IrValue at = module.header_field(ir, body.state, counter);
        ir.CreateStore(ir.CreateAdd(ir.CreateLoad(module.i64(), at), ir.CreateLoad(module.i64(), done)), at);
      }
    else if (faults)
      ir.CreateStore(body.cycle(), pushed());
    if (!table) keep_last(body, inner, ir.CreateLoad(module.i64(), done));
  };
  if (faults) body.leave_unless_zero(ir.CreateLoad(module.i32(), module.header_field(ir, body.state, field::fault)));
  body.loop(static_cast<IrValue>(inner->getArg(1)), [&](IrValue i) {
    place_ports(body, inner, i);
    emit_straight(body);
    ir.CreateStore(ir.CreateAdd(i, ir.getInt64(1)), done);
  });
  body.finish(write_back);
  return inner;
}

// push and pop get arrays of addresses, and of flags, for one cycle.
llvm::Function* StepInterface::emit_run_of_rows(llvm::Function* push, llvm::Function* pop) {
  auto* inner = declare("_run.body", module.i32(), false, true);
  Function body(module, inner, module.core.entry + " (run)", program_span(module), inner->getArg(0));
  auto& ir = body.ir;
  const auto array = [&](llvm::Type* type, std::size_t n) -> IrValue {
    return body.variable(llvm::ArrayType::get(type, n), "row");
  };
  const std::size_t n_inputs = module.core.inputs.size(), n_outputs = module.core.outputs.size();
  IrValue in = array(module.pointer(), n_inputs), in_flags = array(ir.getInt8Ty(), n_inputs);
  IrValue out = array(module.pointer(), n_outputs), out_flags = array(ir.getInt8Ty(), n_outputs);
  const auto address = [&](IrValue of, std::uint32_t k) {
    return ir.CreateConstInBoundsGEP1_64(module.pointer(), of, k);
  };
  const auto flag = [&](IrValue of, std::uint32_t k) { return ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), of, k); };
  for (std::uint32_t k = 0; k < n_inputs; ++k) ir.CreateStore(ir.getInt8(1), flag(in_flags, k));
  body.loop(static_cast<IrValue>(inner->getArg(1)), [&](IrValue i) {
    // Outputs that may be absent, and the addresses of their flags.
    std::vector<std::pair<std::uint32_t, IrValue>> told;
    for (unsigned k = 0; k < list.size(); ++k) {
      const InterfaceParameter& p = list[k];
      IrValue place = row(ir, p, inner->getArg(k + 2), i);
      if (p.role == InterfaceParameter::input_present)
        ir.CreateStore(ir.CreateLoad(ir.getInt8Ty(), place), flag(in_flags, p.port));
      else if (p.role == InterfaceParameter::output_present)
        told.emplace_back(p.port, place);
      else
        ir.CreateStore(place, address(p.role == InterfaceParameter::input ? in : out, p.port));
    }
    body.leave_unless_zero(ir.CreateCall(push, {body.state, in, in_flags}));
    ir.CreateCall(pop, {body.state, out, out_flags});
    for (const auto& [port, place] : told) ir.CreateStore(ir.CreateLoad(ir.getInt8Ty(), flag(out_flags, port)), place);
  });
  body.finish();
  return inner;
}

}  // namespace

StateStruct emit_step_interface(Emission& module) {
  StepInterface interface{module};
  if (!interface.header) module.layout.bias = module.layout.header_bytes;
  const std::vector<std::uint64_t> slots = std::exchange(module.layout.slots, {});  // parameter slots follow NODE_state
  interface.emit_init("_init", false);
  interface.emit_init("_reset", true);
  if (draws(module.program)) interface.emit_seed();
  StateStruct found;
  if (has_advance(module.core)) interface.emit_step("_advance", true);
  for (const InterfaceParameter& p : output_parameters(module.core)) interface.list.push_back(p);
  llvm::Function* step = interface.emit_step("_step", false);
  if (interface.large)
    interface.emit_run_of_calls(step);
  else
    interface.export_as(interface.emit_run(), "_run", true);
  if (module.options.with_lanes) emit_groups(module, step, interface.list, interface.slots(), found);
  interface.list = leading_parameters(module.program);
  if (!interface.list.empty()) interface.emit_lead();
  found.size = module.layout.step_bytes();
  for (std::size_t k = 0; has_advance(module.core) && k < module.core.outputs.size(); ++k) {
    found.outputs.push_back(interface.output_place(k) - module.layout.bias);
    const DType dtype = module.core[module.core.outputs[k].value].dtype;
    found.size = std::max<std::uint64_t>(found.size, found.outputs.back() + byte_size(dtype));
  }
  found.settings = setting_places(module);
  found.hash = interface_hash(module, found);
  emit_stamped_init(module, found.hash);
  module.layout.bias = 0;
  module.layout.slots = slots;
  return found;
}

llvm::Function* emit_many_cycles(Emission& module, llvm::Function* push, llvm::Function* pop) {
  const Target& target = module.target;
  const unsigned size = push->getInstructionCount();
  const bool called =
      size > target.large_step || (size > target.small_step && executed_instructions(*push) > target.long_step);
  StepInterface interface{module, true};
  for (const InterfaceParameter& p : output_parameters(module.core)) interface.list.push_back(p);
  llvm::Function* const inner = called ? interface.emit_run_of_rows(push, pop) : interface.emit_run();
  inner->addFnAttr(llvm::Attribute::AlwaysInline);
  llvm::Type* const pointer = module.pointer();
  llvm::Function* const f = module.function(program_symbol(module, "run"), module.i32(),
                                            {pointer, module.i64(), pointer, pointer, pointer, pointer}, false);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.context, "entry", f));
  std::vector<IrValue> arguments = {f->getArg(0), f->getArg(1)};
  for (IrValue array : caller_arrays(ir, module, *f, interface.list)) arguments.push_back(array);
  ir.CreateRet(ir.CreateCall(inner, arguments));
  return f;
}

namespace {

// The pieces of the record that a run with keys keeps for each key, as offsets from its cells.
std::vector<Piece> pieces_of_record(const Emission& module) {
  const std::uint64_t cells_at = module.layout.header_bytes;
  const auto offset_of = [&](unsigned field) {
    return module.module.getDataLayout().getStructLayout(module.abi.header)->getElementOffset(field);
  };
  std::vector<Piece> found;
  for (Piece p : pieces_of(module, {})) {
    if (p.offset >= cells_at)
      p.own = static_cast<std::int64_t>(p.offset - cells_at);
    else if (p.offset == offset_of(field::seed))
      p.own = RML_SEED_BEFORE_CELLS;
    else if (p.offset == offset_of(field::pushed))
      p.own = RML_CYCLE_BEFORE_CELLS;
    else
      continue;
    found.push_back(p);
  }
  return found;
}

}  // namespace

void emit_together(Emission& module, ProgramFunctions& functions) {
  const StateLayout outside = module.layout;
  const std::uint64_t kept = outside.header_bytes + std::exchange(module.layout.apart, 0);
  module.layout.slots.clear();  // the host ensures that slots are not read
  StepInterface interface{module, true};
  for (const InterfaceParameter& p : output_parameters(module.core)) interface.list.push_back(p);
  llvm::Function* const step = interface.emit_body(".instance", false);
  const std::vector<Piece> pieces = pieces_of_record(module);
  try {
    if (!module.windows.empty()) throw NoLanes("a window is not stored among the memories of a key", nullptr);
    const WideStep in = emit_wide_step(module, *step, kept, program_symbol(module, "lanes"));
    functions.together = emit_step_together(module, {in, *step, interface.list, pieces});
    in.scalar->eraseFromParent();
    if (functions.together == nullptr) {
      in.wide->eraseFromParent();
      throw NoLanes("they would take longer than single rows, or too much of the stack", nullptr);
    }
    functions.lanes = in.lanes;
  } catch (const NoLanes&) {
    if (module.options.with_lanes) throw;
  }
  step->eraseFromParent();
  module.layout = outside;
}

}  // namespace rml::codegen
