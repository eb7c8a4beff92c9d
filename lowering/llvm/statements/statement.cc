// One function per form of statement (lowering/steps/steps.h says what each means).
//
// A store whose value is in registers or in a buffer is a copy; memory is moved at most once
// per statement. Presence of raw inputs and outputs goes through PortPlaces, so the same
// block serves the table of rmlrt.h, the C interface and the loop over cycles.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "lowering/llvm/function/function.h"
#include "lowering/steps/loop_group.h"
#include "runtime/base/rmlrt.h"
#include "semantics/core/queries.h"
#include "semantics/values/overloaded.h"

namespace rml::codegen {

namespace {

// About as many instructions as one that adds: functions are written out.
std::size_t weight(const Core& core, const Costs& costs, ValueId v) {
  const auto* a = apply_of(core, v, Lowering::elementwise);
  if (a == nullptr || !is_float(core[v].dtype)) return 1;
  const Effort effort = operators()[a->op].effort;
  return effort == Effort::elementary || effort == Effort::circular ? costs.written_out_function : 1;
}

// Of statements, nested ones included.
std::size_t weight(const Core& core, const Costs& costs, const steps::Block& block);
std::size_t weight(const Core& core, const Costs& costs, const steps::Statement& statement) {
  if (const auto* compute = std::get_if<steps::Compute>(&statement)) return weight(core, costs, compute->value);
  const auto* branch = std::get_if<steps::Branch>(&statement);
  return branch == nullptr ? 1
                           : 1 + weight(core, costs, *branch->then_block) + weight(core, costs, *branch->else_block);
}
std::size_t weight(const Core& core, const Costs& costs, const steps::Block& block) {
  std::size_t sum = 0;
  for (const steps::Statement& s : block.statements) sum += weight(core, costs, s);
  return sum;
}

}  // namespace

void Body::block(const steps::Block& block) {
  const std::size_t of_part = module.target.part, count = block.statements.size();
  if (weight(module.core, module.target.costs, block) <= 2 * of_part) {
    for (std::size_t at = 0; at < count;) at = statement(block, at);
    return;
  }
  for (std::size_t at = 0; at < count;) {
    part([&] {
      for (std::size_t emitted = 0; at < count && emitted < of_part;) {
        const std::size_t next = statement(block, at);
        for (; at < next; ++at) emitted += weight(module.core, module.target.costs, block.statements[at]);
      }
    });
  }
}

// The one at this position, with those after it that are in the same loop. Returns the position behind.
std::size_t Body::statement(const steps::Block& block, std::size_t at) {
  if (aliasing != nullptr) now_ = aliasing->during(block.statements[at]);
  std::vector<ValueId> members;
  const std::size_t end = grouped(block, at, members);
  if (members.size() > 1) {
    if (aliasing != nullptr) now_.to = std::max(now_.to, aliasing->during(block.statements[end - 1]).to);
    begin(members[0]);
    loops(members);
    return end;
  }
  std::visit([&](const auto& s) { emit(s); }, block.statements[at]);
  return at + 1;
}

// The values of consecutive statements, from `at` on, that one loop computes; the position after them.
std::size_t Body::grouped(const steps::Block& block, std::size_t at, std::vector<ValueId>& members) const {
  std::set<ValueId> all;
  std::optional<Shape> shape;
  bool in_place = false, elsewhere = false;  // some cell is written; some is read at other places
  for (; at < block.statements.size(); ++at) {
    const auto* compute = std::get_if<steps::Compute>(&block.statements[at]);
    if (compute == nullptr) break;
    const ValueId v = compute->value;
    if (module.inlined(v)) continue;
    if (!joins(module.program, all, v, module.target) ||
        (shape && *loop_shape(module.core, v, module.target) != *shape))
      break;
    shape = loop_shape(module.core, v, module.target);
    Expression e;
    e.rank = shape->size();
    const bool pointwise = is_pointwise(module.core, v);
    gather(e, pointwise ? v : std::get<core::Apply>(info(v).rhs).operands[0], identity_map(*shape), pointwise);
    in_place = in_place || home(v).valid();
    for (const Expression::Leaf& leaf : e.leaves)
      elsewhere = elsewhere || (may_lie_in_cell(leaf.value) && info(leaf.value).shape.size() > 0 &&
                                (leaf.base != 0 || leaf.strides != dense_strides(*shape)));
    if (in_place && elsewhere) break;
    members.push_back(v);
    all.insert(v);
  }
  return at;
}

bool Body::may_lie_in_cell(ValueId v) const {
  if (module.core.is_const(v) || small(v)) return false;
  return !std::holds_alternative<core::Apply>(info(v).rhs) || is_part(module.core, v) || home(v).valid();
}

void Body::enter(std::uint32_t place) {
  ir.CreateStore(ir.getInt32(place), module.header_field(ir, state, field::place));
}

// A statement on v. That it is entered is told where loops are made for it: a store more is nothing.
void Body::begin(ValueId v) {
  locate(info(v).span);
  if (!tells_places || module.core.is_const(v)) return;
  std::int64_t most = elements(info(v).shape);
  if (const auto* operation = apply_of(module.core, v))
    for (const ValueId o : operation->operands) most = std::max(most, elements(info(o).shape));
  if (most > module.target.unrolled_elements) enter(module.place_of(v));
}

void Body::emit(const steps::Compute& s) {
  if (module.inlined(s.value)) return;
  begin(s.value);
  compute(s.value);
}

void Body::emit(const steps::Copy& s) {
  begin(s.to);
  prepare(s.from);
  if (small(s.to) && module.core.is_const(s.from)) {
    IrValue to = result(s.to);
    for (std::int64_t i = 0; i < elements(info(s.to).shape); ++i) {
      store(info(s.to).dtype, element(s.from, constant(i)), offset(info(s.to).dtype, to, constant(i)));
    }
    return;
  }
  define_at(s.to, address(s.from));
}

void Body::emit(const steps::LoadCell& s) {
  begin(s.value);
  IrValue from = cell_address(s.cell);
  if (info(s.value).dtype == DType::boolean && info(s.value).shape.empty())
    define(s.value, load_truth(from));
  else if (copied(&s))
    define_copy(s.value, from);
  else
    define_at(s.value, from);
}

void Body::emit(const steps::StoreCell& s) {
  if (home(s.value) == s.cell || module.window_of(s.cell) != nullptr) return;
  begin(s.value);
  prepare(s.value);
  forget_packs(s.cell);
  store_value(s.value, cell_address(s.cell));
}

void Body::emit(const steps::MoveCell& s) {
  const steps::CellInfo& cell = module.program.cells[s.to.index];
  forget_packs(s.to);
  copy_bytes(cell_address(s.to), cell_address(s.from), cell.dtype, cell.shape);
}

void Body::emit(const steps::LoadArray& s) {
  begin(s.value);
  IrValue from = array_address(s.array);
  if (copied(&s))
    define_copy(s.value, from);
  else
    define_at(s.value, from);
}

void Body::emit(const steps::StoreArray& s) {
  begin(s.value);
  prepare(s.value);
  store_value(s.value, array_address(s.array));
}

void Body::emit(const steps::Push& s) {
  begin(s.value);
  prepare(s.value);
  push(s.queue, [&](IrValue to) { store_value(s.value, to); });
}

void Body::emit(const steps::LoadInput& s) {
  begin(s.value);
  const std::uint32_t index = std::get<core::Input>(info(s.value).rhs).index;
  const PortPlaces::Input& input = ports.inputs[index];
  if (input.scalar != nullptr) {
    define(s.value, input.scalar);
  } else if (input.address != nullptr) {
    define_at(s.value, input.address);
  } else {
    const QueueId queue = module.program.input_queues[index];
    if (module.program.network)
      define_copy(s.value, front(queue, 0));
    else
      define_at(s.value, front(queue, 0));
    advance(queue, 0);
  }
}

void Body::emit(const steps::StoreOutput& s) {
  if (ports.outputs[s.output].address == nullptr) return;  // a cell holds it
  begin(s.value);
  prepare(s.value);
  const PortPlaces::Output& output = ports.outputs[s.output];
  if (home_output(s.value) != s.output) store_value(s.value, output.address);
  if (output.flag != nullptr) ir.CreateStore(ir.getInt8(1), output.flag);
}

void Body::emit(const steps::Expect& s) {
  locate(info(module.core.inputs[s.input].value).span);
  IrValue present = ports.inputs[s.input].present;
  if (present == nullptr) throw std::logic_error("code generation: the presence of an input that is always present");
  check(s.present ? ir.CreateNot(present) : present, RML_FAULT_PRESENCE, no_site, ir.getInt64(s.input),
        ir.getInt64(s.present ? 0 : 1));
}

void Body::emit(const steps::Assert& s) {
  locate(info(s.condition).span);
  check(ir.CreateNot(scalar(s.condition)), RML_FAULT_ASSERT, s.site);
}

void Body::emit(const steps::SideCell& s) {
  IrValue holds = load_truth(cell_address(s.cell));
  check(s.positive ? ir.CreateNot(holds) : holds, RML_FAULT_SIDE, s.site);
}

// All instants at once: blocks of the arrays are rows of one matrix.
void Body::emit(const steps::SegmentProduct& s) {
  Product p;
  p.dtype = info(s.value).dtype;
  IrValue first = position;
  position = ir.getInt64(0);
  const auto data = [&](const steps::SegmentMatrix& x) {
    return x.array.valid() ? array_address(x.array) : address(x.held);
  };
  p.a = data(s.a), p.b = data(s.b), p.c = constant(0);
  p.m = s.m, p.inner = s.inner, p.n = s.n;
  p.a_row = s.a.row, p.a_inner = s.a.column, p.b_inner = s.b.row, p.b_column = s.b.column;
  IrValue instants = ir.CreateIntCast(length, module.index_type(), true);
  constexpr std::int64_t many = INT64_MAX / 2;
  if (tells_places) enter(module.place_of(s.value));
  if (s.rows.valid()) {
    p.all_m = ir.CreateMul(instants, constant(s.m), "", true, true);
    p.m = many;
    rows_into(p, s.m, array_address(s.rows));
  } else {
    p.all_inner = ir.CreateMul(instants, constant(s.inner), "", true, true);
    p.inner = many;
    forget_packs(s.sum);
    if (s.onto.valid())
      gemm_onto(p, cell_address(s.sum), cell_address(s.onto)), forget_packs(s.onto);
    else
      gemm_into(p, cell_address(s.sum));
  }
  position = first;
}

// A copy of B in panels is not worth its while for a few rows.
void Body::rows_into(const Product& p, std::int64_t m, IrValue to) {
  const std::int64_t few = Target::few_rows;
  if (m >= few) return gemm_into(p, to);
  const Access access = separate(1)[0];
  const auto one_by_one = [&] {
    loop(ir.CreateUDiv(p.all_m, constant(m)), [&](IrValue i) {
      Product one = p;
      one.m = m, one.all_m = nullptr;
      one.a = offset(p.dtype, p.a, place(constant(0), i, m * p.a_row));
      one.c = place(constant(0), i, m * p.n);
      product(one, [&](const Spot& at, IrValue vector, std::int64_t count) {
        store_elements(p.dtype, vector, count, offset(p.dtype, to, at.offset), access);
      });
    });
  };
  when(ir.CreateICmpULT(p.all_m, constant(few)), one_by_one, [&] { gemm_into(p, to); });
}

void Body::emit(const steps::MarkLast& s) {
  locate(info(s.condition).span);
  IrValue holds = scalar(s.condition);
  ir.CreateStore(s.positive ? holds : ir.CreateNot(holds), last_flag);
}

}  // namespace rml::codegen
