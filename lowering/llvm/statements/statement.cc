// Emits statements, one function per form (lowering/steps/steps.h says what each means).
//
// A store of a value in registers or in a buffer is a copy, and memory is copied at most once per statement. PortPlaces
// determine the presence of raw inputs and outputs, so the same block serves the table of rmlrt.h, the C interface and
// the loop over cycles.
#include "lowering/llvm/statements/statement.h"

#include <algorithm>
#include <stdexcept>

#include "lowering/llvm/function/values.h"
#include "lowering/llvm/products/of_segment.h"
#include "lowering/llvm/queues/queue.h"
#include "runtime/base/rmlrt.h"
#include "semantics/core/queries.h"

namespace rml::codegen {

// The header records v only if loops are emitted for it. Compared with loops, the store takes negligible time.
void begin_statement(Function& f, ValueId v) {
  f.locate(f.info(v).span);
  if (!f.tells_places || f.module.core.is_const(v)) return;
  std::int64_t most = elements(f.info(v).shape);
  if (const auto* operation = apply_of(f.module.core, v))
    for (const ValueId o : operation->operands) most = std::max(most, elements(f.info(o).shape));
  if (most > f.module.target.unrolled_elements) f.enter(f.module.place_of(v));
}

void emit(Function& f, const steps::Compute& s) {
  if (f.module.inlined(s.value)) return;
  begin_statement(f, s.value);
  f.compute(s.value);
}

void emit(Function& f, const steps::Copy& s) {
  begin_statement(f, s.to);
  f.prepare(s.from);
  if (f.small(s.to) && f.module.core.is_const(s.from)) {
    IrValue to = f.result(s.to);
    for (std::int64_t i = 0; i < elements(f.info(s.to).shape); ++i) {
      f.store(f.info(s.to).dtype, f.element(s.from, f.constant(i)), f.offset(f.info(s.to).dtype, to, f.constant(i)));
    }
    return;
  }
  f.define_at(s.to, f.address(s.from));
}

void emit(Function& f, const steps::LoadCell& s) {
  begin_statement(f, s.value);
  IrValue from = f.cell_address(s.cell);
  if (f.info(s.value).dtype == DType::boolean && f.info(s.value).shape.empty())
    f.define(s.value, f.load_truth(from));
  else if (f.copied(&s))
    f.define_copy(s.value, from);
  else
    f.define_at(s.value, from);
}

void emit(Function& f, const steps::StoreCell& s) {
  if (f.home(s.value) == s.cell || f.module.window_of(s.cell) != nullptr) return;
  begin_statement(f, s.value);
  f.prepare(s.value);
  f.forget_packs(s.cell);
  store_value(f, s.value, f.cell_address(s.cell));
}

void emit(Function& f, const steps::MoveCell& s) {
  const steps::CellInfo& cell = f.module.program.cells[s.to.index];
  f.forget_packs(s.to);
  f.copy_bytes(f.cell_address(s.to), f.cell_address(s.from), cell.dtype, cell.shape);
}

void emit(Function& f, const steps::LoadArray& s) {
  begin_statement(f, s.value);
  IrValue from = f.array_address(s.array);
  if (f.copied(&s))
    f.define_copy(s.value, from);
  else
    f.define_at(s.value, from);
}

void emit(Function& f, const steps::StoreArray& s) {
  begin_statement(f, s.value);
  f.prepare(s.value);
  store_value(f, s.value, f.array_address(s.array));
}

void emit(Function& f, const steps::Push& s) {
  begin_statement(f, s.value);
  f.prepare(s.value);
  push(f, s.queue, [&](IrValue to) { store_value(f, s.value, to); });
}

void emit(Function& f, const steps::LoadInput& s) {
  begin_statement(f, s.value);
  const std::uint32_t index = std::get<core::Input>(f.info(s.value).rhs).index;
  const PortPlaces::Input& input = f.ports.inputs[index];
  if (input.scalar != nullptr) {
    f.define(s.value, input.scalar);
  } else if (input.address != nullptr) {
    f.define_at(s.value, input.address);
  } else {
    const QueueId queue = f.module.program.input_queues[index];
    if (f.module.program.network)
      f.define_copy(s.value, front(f, queue, 0));
    else
      f.define_at(s.value, front(f, queue, 0));
    advance(f, queue, 0);
  }
}

void emit(Function& f, const steps::StoreOutput& s) {
  auto& ir = f.ir;
  // The output is kept in a cell, so there is no address to store to.
  if (f.ports.outputs[s.output].address == nullptr) return;
  begin_statement(f, s.value);
  f.prepare(s.value);
  const PortPlaces::Output& output = f.ports.outputs[s.output];
  if (f.home_output(s.value) != s.output) store_value(f, s.value, output.address);
  if (output.flag != nullptr) ir.CreateStore(ir.getInt8(1), output.flag);
}

void emit(Function& f, const steps::Expect& s) {
  auto& ir = f.ir;
  f.locate(f.info(f.module.core.inputs[s.input].value).span);
  IrValue present = f.ports.inputs[s.input].present;
  if (present == nullptr) throw std::logic_error("code generation: the presence of an input that is always present");
  f.check(s.present ? ir.CreateNot(present) : present, RML_FAULT_PRESENCE, no_site, ir.getInt64(s.input),
          ir.getInt64(s.present ? 0 : 1));
}

void emit(Function& f, const steps::Assert& s) {
  f.locate(f.info(s.condition).span);
  f.check(f.ir.CreateNot(f.scalar(s.condition)), RML_FAULT_ASSERT, s.site);
}

void emit(Function& f, const steps::SideCell& s) {
  IrValue holds = f.load_truth(f.cell_address(s.cell));
  f.check(s.positive ? f.ir.CreateNot(holds) : holds, RML_FAULT_SIDE, s.site);
}

void emit(Function& f, const steps::MarkLast& s) {
  auto& ir = f.ir;
  f.locate(f.info(s.condition).span);
  IrValue holds = f.scalar(s.condition);
  ir.CreateStore(s.positive ? holds : ir.CreateNot(holds), f.last_flag);
}

void emit(Function& f, const steps::SegmentProduct& s) { emit_segment_product(f, s); }

}  // namespace rml::codegen
