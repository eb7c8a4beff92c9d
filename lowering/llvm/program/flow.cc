// The rml_flow table: which units put elements into queues and which take them. The code that restores a state needs
// it.
//
// The table consists of four arrays of plain numbers. As a table of structs with addresses it would take as long to
// compile as the rest of the program.
#include "lowering/llvm/program/flow.h"

#include <algorithm>

#include "lowering/steps/mentions.h"
#include "runtime/base/rmlrt.h"

namespace rml::codegen {

namespace {

bool has_assert(const steps::Block& block) {
  return std::ranges::any_of(block.statements, [](const steps::Statement& s) {
    if (const auto* b = std::get_if<steps::Branch>(&s)) return has_assert(*b->then_block) || has_assert(*b->else_block);
    return std::holds_alternative<steps::Assert>(s);
  });
}

class FlowTable {
 public:
  explicit FlowTable(Emission& module) : module_(module), program_(module.program), core_(module.core) {}

  llvm::Constant* table(std::uint32_t first_queue, std::uint32_t first_unit) {
    find_puts();
    for (const steps::Unit& unit : program_.units) {
      bool asserts = false;
      each_block(unit, [&](const steps::Block& block) { asserts = asserts || has_assert(block); });
      add_unit(unit.clock, unit.operands, unit.raw_inputs, asserts);
    }
    add_unit(base_clock, program_.emitter.operands, {}, false);
    std::vector<std::uint32_t> puts;
    for (const rml_put& p : puts_) puts.insert(puts.end(), {p.writer, p.clock, p.after_segment, p.begins});
    auto* i32 = module_.i32();
    const auto number = [&](std::size_t n) { return llvm::ConstantInt::get(i32, n); };
    auto* row = llvm::ConstantStruct::get(
        module_.abi.flow, {number(first_queue), number(program_.queues.size()), number(first_unit),
                           number(program_.units.size()), list(puts), list(units_), list(takes_), list(conditions_)});
    return new llvm::GlobalVariable(module_.module, module_.abi.flow, true, llvm::GlobalValue::PrivateLinkage, row,
                                    "flow");
  }

 private:
  static constexpr std::size_t numbers_of_take = sizeof(rml_take) / sizeof(std::uint32_t);

  void find_puts() {
    for (const steps::QueueInfo& queue : program_.queues)
      puts_.push_back({RML_BY_NOBODY, RML_CLOCK_UNKNOWN, 0, queue.first.valid() ? 1u : 0u});
    for (std::size_t k = 0; k < core_.inputs.size(); ++k) {
      const QueueId values = program_.input_queues[k];
      if (is_read(values)) put(values, RML_BY_HOST, number_of(core_[core_.inputs[k].value].clock), false);
      const QueueId flags = k < program_.input_flags.size() ? program_.input_flags[k] : QueueId();
      if (is_read(flags)) put(flags, RML_BY_HOST, RML_CLOCK_BASE, false);
    }
    for (std::uint32_t u = 0; u < program_.units.size(); ++u) {
      const steps::Unit& unit = program_.units[u];
      find_pushes(unit.instant, u, false, true);
      for (const steps::Sweep& sweep : unit.sweeps) {
        find_pushes(sweep.prologue, u, true, false);
        find_pushes(sweep.body, u, true, true);
      }
      find_pushes(unit.commit, u, true, false);
    }
  }

  bool is_read(QueueId q) const { return q.valid() && program_.queues[q.index].readers > 0; }

  // Finds the queues that a block pushes to. `each` is true if the block runs at each instant.
  void find_pushes(const steps::Block& block, std::uint32_t unit, bool after_segment, bool each) {
    for (const steps::Statement& s : block.statements) {
      if (const auto* b = std::get_if<steps::Branch>(&s)) {
        find_pushes(*b->then_block, unit, after_segment, false);
        find_pushes(*b->else_block, unit, after_segment, false);
      }
      const auto* p = std::get_if<steps::Push>(&s);
      if (p == nullptr || !is_read(p->queue)) continue;
      const ClockId own = program_.units[unit].clock, clock = core_[p->value].clock;
      const bool known = each || clock != own;
      put(p->queue, unit,
          each    ? number_of(own)
          : known ? number_of(clock)
                  : std::uint32_t{RML_CLOCK_UNKNOWN},
          after_segment);
    }
  }

  void put(QueueId q, std::uint32_t writer, std::uint32_t clock, bool after_segment) {
    rml_put& p = puts_[q.index];
    // The queue is pushed in several places, so its clock is unknown.
    if (p.writer == writer) clock = RML_CLOCK_UNKNOWN;
    p.writer = writer;
    p.clock = clock;
    p.after_segment = after_segment ? 1 : 0;
  }

  static std::uint32_t number_of(ClockId clock) { return clock.index; }

  void add_unit(ClockId clock, const std::vector<steps::Operand>& operands,
                const std::vector<std::uint32_t>& raw_inputs, bool asserts) {
    const auto first = static_cast<std::uint32_t>(takes_.size() / numbers_of_take);
    for (const steps::Operand& o : operands) {
      const auto condition = static_cast<std::uint32_t>(conditions_.size());
      const std::uint32_t when = add_conditions(o.when, operands), needed = add_conditions(o.needed, operands);
      add_take(o.queue, o.reader, core_[o.value].clock, o.once ? RML_TAKE_FIRST : RML_TAKE_EACH,
               {condition, when, needed});
    }
    for (const std::uint32_t input : raw_inputs) {
      const QueueId flags = program_.input_flags[input], values = program_.input_queues[input];
      add_take(flags, 0, clock, RML_TAKE_EACH, {});
      if (is_read(values)) add_take(values, 0, core_[core_.inputs[input].value].clock, RML_TAKE_FLAGGED, {});
    }
    const auto count = static_cast<std::uint32_t>(takes_.size() / numbers_of_take) - first;
    units_.insert(units_.end(), {number_of(clock), first, count, asserts ? 1u : 0u});
  }

  struct Conditions {
    std::uint32_t first = 0, when = 0, needed = 0;
  };
  void add_take(QueueId q, std::uint32_t reader, ClockId clock, std::uint32_t kind, Conditions c) {
    takes_.insert(takes_.end(),
                  {static_cast<std::uint32_t>(q.index), reader, number_of(clock), kind, c.first, c.when, c.needed});
  }

  std::uint32_t add_conditions(const std::vector<std::pair<ValueId, bool>>& conditions,
                               const std::vector<steps::Operand>& operands) {
    for (const auto& [condition, positive] : conditions) {
      const auto at = std::ranges::find(operands, condition, &steps::Operand::value);
      const auto number = static_cast<std::uint32_t>(at - operands.begin());
      conditions_.push_back(at == operands.end() ? UINT32_MAX : 2 * number + (positive ? 1 : 0));
    }
    return static_cast<std::uint32_t>(conditions.size());
  }

  llvm::Constant* list(const std::vector<std::uint32_t>& numbers) {
    auto* data = llvm::ConstantDataArray::get(module_.context, numbers);
    auto* global = new llvm::GlobalVariable(module_.module, data->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                            data, "flow");
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return global;
  }

  Emission& module_;
  const steps::Program& program_;
  const Core& core_;
  std::vector<rml_put> puts_;
  std::vector<std::uint32_t> units_, takes_, conditions_;
};

}  // namespace

llvm::Constant* emit_flow(Emission& module, std::uint32_t first_queue, std::uint32_t first_unit) {
  if (module.program.on_demand != nullptr) return llvm::ConstantPointerNull::get(module.pointer());
  if (module.program.straight) return llvm::ConstantPointerNull::get(module.pointer());
  return FlowTable(module).table(first_queue, first_unit);
}

}  // namespace rml::codegen
