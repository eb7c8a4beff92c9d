// Emits a program as a network: its tasks' functions and their table (rml_network in rmlrt.h).
//
//   ready    tests the operands in order: present and needed ones must have arrived; finds the greatest key
//   step     the unit's instant (unit.cc)
//   push     puts every input into its ring, which must have room; the cycle is counted last
//   pop      hands out a row, which must be ready
#include "lowering/llvm/program/network.h"

#include <algorithm>
#include <map>

#include "lowering/llvm/function/function.h"
#include "lowering/llvm/program/caller.h"
#include "lowering/llvm/program/sites.h"
#include "lowering/llvm/program/unit.h"
#include "lowering/llvm/queues/network_ring.h"
#include "lowering/llvm/queues/operands.h"
#include "lowering/steps/mentions.h"
#include "runtime/base/rmlrt.h"
#include "semantics/values/overloaded.h"

namespace rml::codegen {

// ---- rings -----------------------------------------------------------------------------------

namespace {}  // namespace

// ---- functions -------------------------------------------------------------------------------

namespace {

void leave_when(Function& body, IrValue condition, std::uint32_t code) {
  body.when(condition, [&] {
    body.leave_with(body.ir.getInt32(code));
    body.ir.SetInsertPoint(body.new_block("never"));
  });
}

// Emits i32 ready(state, key) for a task.
struct Ready {
  llvm::Function* function;
  Function body;
  Ready(Emission& module, const std::string& name)
      : function(module.function(name, module.i32(), {module.pointer(), module.pointer()}, false)),
        body(module, function, name, {}, function->getArg(0)) {
    body.ir.CreateStore(body.ir.getInt64(0), function->getArg(1));
  }
  IrValue key() { return function->getArg(1); }
  // Tests that cycle `number` has been pushed.
  void await_cycle(IrValue number) {
    Emission& module = body.module;
    auto* pushed = body.ir.CreateAlignedLoad(module.i64(), module.header_field(body.ir, body.state, field::pushed),
                                             llvm::Align(8));
    pushed->setAtomic(llvm::AtomicOrdering::Acquire);
    leave_when(body, body.ir.CreateICmpSGE(number, pushed), RML_WAITS_CYCLE);
    IrValue own = body.ir.CreateShl(number, RML_KEY_BITS);
    IrValue so_far = body.ir.CreateLoad(module.i64(), key());
    body.ir.CreateStore(body.ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, so_far, own), key());
  }
};

llvm::Function* emit_ready(Emission& module, std::uint32_t index) {
  const steps::Unit& unit = module.program.units[index];
  Ready ready(module, module.options.program_name + "." + unit.name + ".ready");
  Function& body = ready.body;
  if (unit.clock == never_clock) {
    leave_when(body, body.ir.getTrue(), RML_WAITS_EVER);
  } else {
    for (const std::uint32_t owner : unit.after)
      leave_when(body, body.ir.CreateICmpEQ(acquire(body, module.layout.units[owner].cycle), body.ir.getInt64(0)),
                 static_cast<std::uint32_t>(-static_cast<std::int32_t>(owner) - 1));
    leave_unless_ready(body, unit.operands, ready.key());
    for (const std::uint32_t input : unit.raw_inputs)
      leave_unless_waiting(body, module.program.input_flags[input], 0, ready.key());
    // An operand that is present at every instant arrives once per cycle, unless its stream begins with an initial
    // element.
    const auto paces = [&](const steps::Operand& o) {
      return o.when.empty() && !o.once && !module.program.queues[o.queue.index].first.valid();
    };
    const bool paced = !unit.raw_inputs.empty() || std::ranges::any_of(unit.operands, paces);
    if (!paced && unit.clock == base_clock) ready.await_cycle(body.load_i64(module.layout.units[index].cycle));
  }
  body.finish();
  return ready.function;
}

llvm::Function* emit_row_ready(Emission& module) {
  Ready ready(module, program_symbol(module, "ready"));
  Function& body = ready.body;
  leave_unless_ready(body, module.program.emitter.operands, ready.key());
  ready.await_cycle(body.ir.CreateLoad(module.i64(), module.header_field(body.ir, body.state, field::popped)));
  body.finish();
  return ready.function;
}

llvm::Function* emit_network_push(Emission& module) {
  auto* f = module.function(program_symbol(module, "push"), module.i32(),
                            {module.pointer(), module.pointer(), module.pointer()}, false);
  Function body(module, f, module.core.entry + " (push)", {}, f->getArg(0));
  IrValue pushed_at = module.header_field(body.ir, body.state, field::pushed);
  IrValue cycle = body.ir.CreateLoad(module.i64(), pushed_at);
  body.key = body.ir.CreateShl(cycle, RML_KEY_BITS, "key");
  for (std::size_t k = 0; k < module.core.inputs.size(); ++k) enqueue(body, k, f->getArg(1), f->getArg(2));
  auto* count = body.ir.CreateAlignedStore(body.ir.CreateAdd(cycle, body.ir.getInt64(1)), pushed_at, llvm::Align(8));
  count->setAtomic(llvm::AtomicOrdering::Release);
  body.finish();
  return f;
}

llvm::Function* emit_network_pop(Emission& module) {
  auto* f = module.function(program_symbol(module, "pop"), module.i32(),
                            {module.pointer(), module.pointer(), module.pointer()}, false);
  Function body(module, f, module.core.entry + " (pop)", {}, f->getArg(0));
  pop_operands(body, module.program.emitter.operands);
  emit_row(body, f->getArg(1), f->getArg(2));
  advance_operands(body, module.program.emitter.operands);
  IrValue popped_at = module.header_field(body.ir, body.state, field::popped);
  body.ir.CreateStore(body.ir.CreateAdd(body.ir.CreateLoad(module.i64(), popped_at), body.ir.getInt64(1)), popped_at);
  body.finish({}, 1);
  return f;
}

// ---- the table -------------------------------------------------------------------------------

class NetworkTable {
 public:
  explicit NetworkTable(Emission& module) : module_(module), program_(module.program) {
    const auto read = [&](std::uint32_t reader, const std::vector<steps::Operand>& operands) {
      for (const steps::Operand& o : operands) readers_[o.queue.index][o.reader] = reader;
    };
    readers_.resize(program_.queues.size());
    writer_.assign(program_.queues.size(), UINT32_MAX);
    for (std::size_t q = 0; q < program_.queues.size(); ++q) readers_[q].assign(program_.queues[q].readers, UINT32_MAX);
    for (std::uint32_t u = 0; u < program_.units.size(); ++u) {
      const steps::Unit& unit = program_.units[u];
      read(u, unit.operands);
      for (const std::uint32_t input : unit.raw_inputs)
        for (const QueueId q : {program_.input_flags[input], program_.input_queues[input]})
          if (q.valid()) readers_[q.index][0] = u;
    }
    read(UINT32_MAX, program_.emitter.operands);
  }

  llvm::Constant* task(std::uint32_t u, const UnitFunctions& functions, llvm::Function* ready) {
    const steps::Unit& unit = program_.units[u];
    const UnitLayout& at = module_.layout.units[u];
    std::vector<std::uint32_t> reads, writes, ends;
    for (const steps::Operand& o : unit.operands) reads.push_back(o.queue.index);
    for (const std::uint32_t input : unit.raw_inputs)
      for (const QueueId q : {program_.input_flags[input], program_.input_queues[input]})
        if (q.valid()) reads.push_back(q.index);
    note_pushes(unit.instant, u, writes);
    for (const steps::Sweep& sweep : unit.sweeps)
      note_pushes(sweep.prologue, u, ends), note_pushes(sweep.body, u, ends);
    note_pushes(unit.commit, u, ends);
    auto* none = llvm::ConstantPointerNull::get(module_.pointer());
    return llvm::ConstantStruct::get(
        module_.abi.task,
        {module_.text(unit.name), site_row(module_, unit_span(unit), unit_text(unit)), byte(unit.clock == base_clock),
         byte(functions.can_fail), number(reads.size()), number(writes.size()), number(ends.size()),
         number(unit.after.size()), list(reads), list(writes), list(ends), list(unit.after), offset(at.header),
         offset(at.cycle), offset(unit.segmented ? at.length : UINT64_MAX), offset(at.pending), ready,
         functions.instant, functions.end != nullptr ? static_cast<llvm::Constant*>(functions.end) : none});
  }

  llvm::Constant* finish(const std::vector<llvm::Constant*>& tasks, llvm::Function* ready) {
    std::uint32_t row = 0;
    for (const steps::CellInfo& cell : program_.cells) row += cell.local ? 0 : 1;
    std::vector<llvm::Constant*> queues;
    for (std::size_t q = 0; q < program_.queues.size(); ++q) {
      const steps::QueueInfo& queue = program_.queues[q];
      queues.push_back(llvm::ConstantStruct::get(
          module_.abi.queue, {number(row++), offset(module_.layout.queues[q].data),
                              offset(std::max<std::uint64_t>(bytes(queue.dtype, queue.shape), 1)), number(writer_[q]),
                              list(readers_[q]), first_of(queue)}));
    }
    std::vector<std::uint32_t> inputs, outputs;
    for (const auto* of : {&program_.input_queues, &program_.input_flags})
      for (const QueueId q : *of)
        if (q.valid()) inputs.push_back(q.index);
    for (const steps::Operand& o : program_.emitter.operands) outputs.push_back(o.queue.index);
    auto* table = llvm::ConstantStruct::get(
        module_.abi.network,
        {number(tasks.size()), number(queues.size()), module_.table("tasks", module_.abi.task, tasks),
         module_.table("queues", module_.abi.queue, queues), number(inputs.size()), number(outputs.size()),
         list(inputs), list(outputs), ready});
    return new llvm::GlobalVariable(module_.module, module_.abi.network, true, llvm::GlobalValue::PrivateLinkage, table,
                                    "network");
  }

 private:
  void note_pushes(const steps::Block& block, std::uint32_t unit, std::vector<std::uint32_t>& queues) {
    for (const steps::Statement& s : block.statements) {
      if (const auto* b = std::get_if<steps::Branch>(&s))
        note_pushes(*b->then_block, unit, queues), note_pushes(*b->else_block, unit, queues);
      if (const auto* p = std::get_if<steps::Push>(&s); p != nullptr && program_.queues[p->queue.index].readers > 0) {
        writer_[p->queue.index] = unit;
        if (std::ranges::find(queues, p->queue.index) == queues.end()) queues.push_back(p->queue.index);
      }
    }
  }

  // The first equation with a name of its own, or the first of all.
  ValueId first_value(const steps::Unit& unit) const {
    ValueId first;
    each_block(unit, [&](const steps::Block& b) { find_first(b, first); });
    return first;
  }
  void find_first(const steps::Block& block, ValueId& first) const {
    for (const steps::Statement& s : block.statements) {
      if (const auto* b = std::get_if<steps::Branch>(&s))
        find_first(*b->then_block, first), find_first(*b->else_block, first);
      const ValueId v = std::visit(
          Overloaded{[](const steps::Compute& c) { return c.value; }, [](const steps::Copy& c) { return c.to; },
                     [](const steps::Push& p) { return p.value; }, [](const auto&) { return ValueId(); }},
          s);
      if (!v.valid() || module_.core.is_const(v)) continue;
      if (!first.valid() || (module_.core[first].name.empty() && !module_.core[v].name.empty())) first = v;
    }
  }
  Span unit_span(const steps::Unit& unit) const {
    const ValueId v = first_value(unit);
    return v.valid() ? module_.core[v].span : Span{};
  }
  std::string unit_text(const steps::Unit& unit) const {
    const ValueId v = first_value(unit);
    const std::string name = v.valid() ? module_.core[v].name : "";
    return name.empty() ? unit.name : name;
  }

  llvm::Constant* first_of(const steps::QueueInfo& queue) {
    if (!queue.first.valid()) return llvm::ConstantPointerNull::get(module_.pointer());
    return module_.tensor(std::get<core::Const>(module_.core[queue.first].rhs).value);
  }
  llvm::Constant* byte(bool b) { return llvm::ConstantInt::get(llvm::Type::getInt8Ty(module_.context), b ? 1 : 0); }
  llvm::Constant* number(std::size_t n) { return llvm::ConstantInt::get(module_.i32(), n); }
  llvm::Constant* offset(std::uint64_t n) { return llvm::ConstantInt::get(module_.i64(), n); }
  llvm::Constant* list(const std::vector<std::uint32_t>& numbers) {
    std::vector<llvm::Constant*> constants;
    for (const std::uint32_t n : numbers) constants.push_back(number(n));
    return module_.table("list", module_.i32(), constants);
  }

  Emission& module_;
  const steps::Program& program_;
  std::vector<std::vector<std::uint32_t>> readers_;
  std::vector<std::uint32_t> writer_;
};

}  // namespace

void emit_network(Emission& module, ProgramFunctions& functions) {
  NetworkTable table(module);
  std::vector<llvm::Constant*> tasks;
  for (std::uint32_t u = 0; u < module.program.units.size(); ++u) {
    const UnitFunctions unit = emit_unit(module, u);
    tasks.push_back(table.task(u, unit, emit_ready(module, u)));
  }
  module.layout.begin_task();
  functions.push = emit_network_push(module);
  functions.pop = emit_network_pop(module);
  functions.network = table.finish(tasks, emit_row_ready(module));
}

}  // namespace rml::codegen
