// Emits units: the function of one instant, and of a segment's later sweeps.
//
//   instant:  pop operands; block; [segmented: count it; if it was marked last: segment; in a network: later]
//             for a unit that looks back: pop belated operands; the block of the previous instant; if that was marked
//             last: segment; then pop the other operands; block; count it. In a network the segment's end comes in
//             between, and then the instant starts again
//   segment:  for each sweep { local cells := initial; prologue; for i … { body } }; commit
//
// All arrays of a unit grow together, before the instant that would overflow them. So within a segment function their
// addresses are fixed and loaded once.
#include "lowering/llvm/program/unit.h"

#include <set>

#include "lowering/llvm/function/function.h"
#include "lowering/llvm/queues/network_ring.h"
#include "lowering/llvm/queues/operands.h"
#include "lowering/llvm/queues/queue.h"
#include "lowering/llvm/statements/block.h"
#include "lowering/llvm/statements/initial.h"
#include "lowering/steps/mentions.h"
#include "runtime/base/rmlrt.h"

namespace rml::codegen {

namespace {

struct UnitEmitter {
  Emission& module;
  std::uint32_t index;
  const steps::Unit& unit = module.program.units[index];
  const UnitLayout& layout = module.layout.units[index];
  Aliasing aliasing{module.program, module.windows, module.target};
  bool can_fail = false;

  Span span() const {
    for (const steps::Statement& s : unit.instant.statements) {
      if (const auto* compute = std::get_if<steps::Compute>(&s)) return module.core[compute->value].span;
    }
    return {};
  }
  bool on_base() const { return unit.clock == base_clock; }
  IrValue cycles(Function& body) const {
    if (on_base()) return body.load_i64(layout.cycle);
    return body.ir.CreateLoad(module.i64(), module.header_field(body.ir, body.header(), field::pushed));
  }

  void take_flags(Function& body) const;
  void complete_before(Function& body, llvm::Function* segment) const;
  void begin_instant(Function& body) const;
  void end_segment(Function& body, llvm::Function* segment) const;
  void run_passes(Function& body, llvm::Function* segment, IrValue length) const;
  void place_local_cells(Function& body, const steps::Sweep& sweep) const;
  void task_body(Function& body) const;
  void count_instant(Function& body) const;
  llvm::Function* emit_instant(llvm::Function* segment);
  llvm::Function* emit_end(llvm::Function* segment);
  llvm::Function* emit_segment();
};

// Takes the presence flags of the inputs that this unit takes from the caller.
void UnitEmitter::take_flags(Function& body) const {
  body.ports.inputs.resize(module.core.inputs.size());
  for (const std::uint32_t input : unit.raw_inputs) {
    const QueueId flags = module.program.input_flags[input];
    body.ports.inputs[input].present = body.load(DType::boolean, front(body, flags, 0));
    advance(body, flags, 0);
  }
}

void UnitEmitter::complete_before(Function& body, llvm::Function* segment) const {
  auto& ir = body.ir;
  body.last_flag = body.variable(ir.getInt1Ty(), "last");
  pop_operands(body, unit.operands, true);
  IrValue length = body.load_i64(layout.length);
  body.when(ir.CreateICmpSGT(length, ir.getInt64(0)), [&] {
    body.position = ir.CreateSub(length, ir.getInt64(1));
    emit_block(body, unit.before);
    body.when(ir.CreateLoad(ir.getInt1Ty(), body.last_flag, "last"), [&] {
      if (!module.program.network) return run_passes(body, segment, length);
      ir.CreateStore(ir.getInt8(1), body.at(layout.pending));
      body.leave_with(ir.getInt32(0));
      ir.SetInsertPoint(body.new_block("never"));
    });
  });
}

void UnitEmitter::begin_instant(Function& body) const {
  auto& ir = body.ir;
  body.position = body.load_i64(layout.length);
  if (!unit.looks_back()) {
    body.last_flag = body.variable(ir.getInt1Ty(), "last");
    ir.CreateStore(ir.getFalse(), body.last_flag);
  }
  body.when(ir.CreateICmpEQ(body.position, ir.getInt64(0)), [&] { body.store_i64(cycles(body), layout.start); });
  IrValue horizon = ir.CreateLoad(module.i64(), module.header_field(ir, body.header(), field::horizon), "horizon");
  IrValue beyond = ir.CreateAnd(ir.CreateICmpNE(horizon, ir.getInt64(0)), ir.CreateICmpSGE(body.position, horizon));
  body.check(beyond, RML_FAULT_HORIZON, no_site, body.load_i64(layout.start), horizon);
  if (layout.array_ids.empty()) return;
  body.when(ir.CreateICmpSGE(body.position, body.load_i64(layout.capacity)), [&] {
    std::vector<llvm::Constant*> sizes;
    for (const std::uint32_t a : layout.array_ids) {
      const steps::ArrayInfo& array = module.program.arrays[a];
      sizes.push_back(ir.getInt64(std::max<std::uint64_t>(bytes(array.dtype, array.shape), 1)));
    }
    body.fail_memory(
        ir.CreateCall(module.grow_segment(), {body.header(), body.at(layout.arrays), body.at(layout.capacity),
                                              module.table("sizes", module.i64(), sizes), ir.getInt64(sizes.size())}));
  });
}

// After the last instant: runs the other sweeps, and begins a new segment. In a network the sweeps wait until there is
// room for the elements that they push.
void UnitEmitter::end_segment(Function& body, llvm::Function* segment) const {
  auto& ir = body.ir;
  IrValue length = ir.CreateAdd(body.position, ir.getInt64(1));
  body.store_i64(length, layout.length);
  if (unit.looks_back()) return;
  auto *ends = body.new_block("ends"), *goes_on = body.new_block("goes_on");
  ir.CreateCondBr(ir.CreateLoad(ir.getInt1Ty(), body.last_flag, "last"), ends, goes_on);
  ir.SetInsertPoint(ends);
  if (module.program.network) {
    ir.CreateStore(ir.getInt8(1), body.at(layout.pending));
    advance_operands(body, unit.operands);
    body.leave_with(ir.getInt32(0));
  } else {
    run_passes(body, segment, length);
    ir.CreateBr(goes_on);
  }
  ir.SetInsertPoint(goes_on);
}

void UnitEmitter::run_passes(Function& body, llvm::Function* segment, IrValue length) const {
  auto& ir = body.ir;
  body.leave_unless_zero(ir.CreateCall(segment, {body.state}));
  const auto field_at = [&](unsigned f) { return module.header_field(ir, body.header(), f); };
  IrValue longest = ir.CreateLoad(module.i64(), field_at(field::longest_segment));
  ir.CreateStore(ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, longest, length), field_at(field::longest_segment));
  IrValue segments = ir.CreateLoad(module.i64(), field_at(field::segments));
  ir.CreateStore(ir.CreateAdd(segments, ir.getInt64(1)), field_at(field::segments));
  body.store_i64(ir.getInt64(0), layout.length);
}

void UnitEmitter::count_instant(Function& body) const {
  IrValue cycle = body.ir.CreateAdd(body.load_i64(layout.cycle), body.ir.getInt64(1));
  if (module.program.network)
    release(body, cycle, layout.cycle);
  else
    body.store_i64(cycle, layout.cycle);
}

// Sets up the function of a task: its own header, and the key of the elements that it pushes.
void UnitEmitter::task_body(Function& body) const {
  body.header_at = layout.header;
  IrValue stamp = body.ir.CreateLoad(module.i64(), module.header_field(body.ir, body.header(), field::pushed), "stamp");
  body.key = body.ir.CreateOr(body.ir.CreateShl(stamp, RML_KEY_BITS), body.ir.getInt64(index + 1), "key");
}

// Emits int32 end(state), which runs the sweeps of a task after the leading one.
llvm::Function* UnitEmitter::emit_end(llvm::Function* segment) {
  auto* f =
      module.function(module.options.program_name + "." + unit.name + ".end", module.i32(), {module.pointer()}, false);
  Function body(module, f, unit.name + " (end)", span(), f->getArg(0));
  task_body(body);
  run_passes(body, segment, body.load_i64(layout.length));
  body.ir.CreateStore(body.ir.getInt8(0), body.at(layout.pending));
  if (!unit.looks_back()) count_instant(body);
  body.finish();
  return f;
}

llvm::Function* UnitEmitter::emit_instant(llvm::Function* segment) {
  aliasing.add({&unit.before, &unit.instant}, nullptr);
  std::vector<llvm::Type*> parameters(module.program.network ? 1 : 2, module.pointer());
  auto* f = module.function(module.options.program_name + "." + unit.name, module.i32(), parameters, false);
  Function body(module, f, unit.name, span(), f->getArg(0));
  if (!module.program.network) body.given = f->getArg(1);
  body.aliasing = &aliasing;
  body.cycle = [&] { return cycles(body); };
  body.tells_places = !module.program.network;
  if (module.program.network)
    task_body(body);
  else
    body.enter(module.new_place(span(), "the rest of " + unit.name));
  if (unit.looks_back()) complete_before(body, segment);
  if (unit.segmented) begin_instant(body);
  take_flags(body);
  pop_operands(body, unit.operands);
  emit_block(body, unit.instant);
  if (unit.segmented) end_segment(body, segment);
  if (module.program.network) advance_operands(body, unit.operands);
  count_instant(body);
  body.finish();
  can_fail = can_fail || body.can_fault;
  return f;
}

// Places the cells that live in this sweep only; small ones are in registers.
void UnitEmitter::place_local_cells(Function& body, const steps::Sweep& sweep) const {
  std::set<CellId> local;
  const auto note = [&](CellId cell, CellUse) {
    if (module.program.cells[cell.index].local) local.insert(cell);
  };
  for (const steps::Block* block : {&sweep.prologue, &sweep.body})
    each_statement(*block, [&](const steps::Statement& s) { each_cell(s, note); });
  for (const CellId id : local) {
    const steps::CellInfo& cell = module.program.cells[id.index];
    IrValue place = body.scratch(cell.dtype, cell.shape, cell.name, aliasing.whole_region());
    body.place_cell(id, place);
    set_initial(body, cell, place);
  }
}

llvm::Function* UnitEmitter::emit_segment() {
  auto* f = module.function(module.options.program_name + "." + unit.name + ".segment", module.i32(),
                            {module.pointer()}, false);
  Function body(module, f, unit.name + " (segment)", span(), f->getArg(0));
  auto& ir = body.ir;
  if (module.program.network) task_body(body);
  body.aliasing = &aliasing;
  IrValue length = body.load_i64(layout.length);
  body.length = length;
  body.cycle = [&]() -> IrValue {
    IrValue end = cycles(body);
    if (!on_base()) return end;
    if (!unit.looks_back()) end = ir.CreateAdd(end, ir.getInt64(1));
    return ir.CreateAdd(ir.CreateSub(end, length), body.position);
  };
  for (const std::uint32_t a : layout.array_ids) {
    body.place_array(ArrayId(a), ir.CreateLoad(module.pointer(), body.at(module.layout.arrays[a]), "array"));
  }
  IrValue last = ir.CreateSub(length, ir.getInt64(1), "last");
  body.tells_places = !module.program.network;
  for (std::size_t p = 0; p < unit.sweeps.size(); ++p) {
    const steps::Sweep& sweep = unit.sweeps[p];
    if (body.tells_places)
      body.enter(module.new_place(span(), std::string(sweep.backward ? "back" : "for") + "ward sweep " +
                                              std::to_string(p + 1) + " of " + unit.name));
    aliasing.add({&sweep.prologue}, &sweep.body);
    body.begin_region();
    place_local_cells(body, sweep);
    body.position = sweep.backward ? last : ir.getInt64(0);
    emit_block(body, sweep.prologue);
    if (sweep.body.statements.empty()) continue;
    body.loop(length, [&](IrValue i) {
      body.position = sweep.backward ? ir.CreateSub(last, i, "i", true, true) : i;
      emit_block(body, sweep.body);
    });
  }
  aliasing.add({&unit.commit}, nullptr);
  body.begin_region();
  body.position = last;
  emit_block(body, unit.commit);
  body.finish();
  can_fail = can_fail || body.can_fault;
  return f;
}

}  // namespace

UnitFunctions emit_unit(Emission& module, std::uint32_t index) {
  UnitEmitter emitter{module, index};
  if (module.program.network) module.layout.begin_task();
  UnitFunctions functions;
  llvm::Function* segment = emitter.unit.segmented ? emitter.emit_segment() : nullptr;
  functions.instant = emitter.emit_instant(segment);
  if (segment != nullptr && module.program.network) functions.end = emitter.emit_end(segment);
  functions.can_fail = emitter.can_fail && emitter.unit.clock != never_clock;
  return functions;
}

}  // namespace rml::codegen
