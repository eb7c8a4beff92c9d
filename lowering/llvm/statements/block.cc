// Emits a block statement by statement, except for statements that one loop computes. A long block is split into parts.
#include "lowering/llvm/statements/block.h"

#include <algorithm>
#include <set>

#include "lowering/llvm/elements/expression.h"
#include "lowering/llvm/elements/loops.h"
#include "lowering/llvm/function/parts.h"
#include "lowering/llvm/statements/branch.h"
#include "lowering/llvm/statements/statement.h"
#include "lowering/steps/loop_group.h"
#include "semantics/core/queries.h"
#include "semantics/values/overloaded.h"

namespace rml::codegen {

namespace {

// An estimate in simple instructions. Elementary functions are inlined once for each vector of a small tensor.
std::size_t weight(const Function& f, ValueId v) {
  const Value& value = f.info(v);
  const auto* a = apply_of(f.module.core, v, Lowering::elementwise);
  if (a == nullptr || !is_float(value.dtype)) return 1;
  const Target& target = f.module.target;
  const std::int64_t lanes = target.lanes(value.dtype);
  const std::int64_t vectors = f.small(v) ? (elements(value.shape) + lanes - 1) / lanes : 1;
  const Effort effort = operators()[a->op].effort;
  const bool written_out = effort == Effort::elementary || effort == Effort::circular;
  return static_cast<std::size_t>(vectors) * (written_out ? target.costs.written_out_function : 1);
}

// The weight of statements, including nested ones.
std::size_t weight(const Function& f, const steps::Block& block);
std::size_t weight(const Function& f, const steps::Statement& statement) {
  if (const auto* compute = std::get_if<steps::Compute>(&statement)) return weight(f, compute->value);
  const auto* branch = std::get_if<steps::Branch>(&statement);
  return branch == nullptr ? 1 : 1 + weight(f, *branch->then_block) + weight(f, *branch->else_block);
}

std::size_t weight(const Function& f, const steps::Block& block) {
  std::size_t sum = 0;
  for (const steps::Statement& s : block.statements) sum += weight(f, s);
  return sum;
}

bool may_lie_in_cell(const Function& f, ValueId v) {
  if (f.module.core.is_const(v) || f.small(v)) return false;
  return !std::holds_alternative<core::Apply>(f.info(v).rhs) || is_part(f.module.core, v) || f.home(v).valid();
}

// Collects the values of consecutive statements from `at` on that one loop computes. Returns the position after them.
std::size_t grouped(const Function& f, const steps::Block& block, std::size_t at, std::vector<ValueId>& members) {
  std::set<ValueId> all;
  std::optional<Shape> shape;
  // `in_place`: a cell is written; `elsewhere`: another element of a cell is read.
  bool in_place = false, elsewhere = false;
  for (; at < block.statements.size(); ++at) {
    const auto* compute = std::get_if<steps::Compute>(&block.statements[at]);
    if (compute == nullptr) break;
    const ValueId v = compute->value;
    if (f.module.inlined(v)) continue;
    if (!joins(f.module.program, all, v, f.module.target) ||
        (shape && *loop_shape(f.module.core, v, f.module.target) != *shape))
      break;
    shape = loop_shape(f.module.core, v, f.module.target);
    Expression e;
    e.rank = shape->size();
    const bool pointwise = is_pointwise(f.module.core, v);
    gather(f, e, pointwise ? v : std::get<core::Apply>(f.info(v).rhs).operands[0], identity_map(*shape), pointwise);
    in_place = in_place || f.home(v).valid();
    for (const Expression::Leaf& leaf : e.leaves)
      elsewhere = elsewhere || (may_lie_in_cell(f, leaf.value) && f.info(leaf.value).shape.size() > 0 &&
                                (leaf.base != 0 || leaf.strides != dense_strides(*shape)));
    if (in_place && elsewhere) break;
    members.push_back(v);
    all.insert(v);
  }
  return at;
}

// Emits the statement at this position, with those after it that run in the same loop. Returns the position after them.
std::size_t emit_statement(Function& f, const steps::Block& block, std::size_t at) {
  if (f.aliasing != nullptr) f.now = f.aliasing->during(block.statements[at]);
  std::vector<ValueId> members;
  const std::size_t end = grouped(f, block, at, members);
  if (members.size() > 1) {
    if (f.aliasing != nullptr) f.now.to = std::max(f.now.to, f.aliasing->during(block.statements[end - 1]).to);
    begin_statement(f, members[0]);
    emit_loops(f, members);
    return end;
  }
  std::visit(Overloaded{[&](const steps::Branch& s) {
                          emit_branch(f, s, [&](const steps::Block& side) { emit_block(f, side); });
                        },
                        [&](const auto& s) { emit(f, s); }},
             block.statements[at]);
  return at + 1;
}

}  // namespace

void emit_block(Function& f, const steps::Block& block) {
  const std::size_t of_part = f.module.target.part, count = block.statements.size();
  if (weight(f, block) <= 2 * of_part) {
    for (std::size_t at = 0; at < count;) at = emit_statement(f, block, at);
    return;
  }
  for (std::size_t at = 0; at < count;) {
    emit_part(f, [&] {
      for (std::size_t emitted = 0; at < count && emitted < of_part;) {
        const std::size_t next = emit_statement(f, block, at);
        for (; at < next; ++at) emitted += weight(f, block.statements[at]);
      }
    });
  }
}

}  // namespace rml::codegen
