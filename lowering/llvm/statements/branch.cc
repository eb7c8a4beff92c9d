// Emits branches as jumps, or as selects if both sides are cheap.
//
// A mispredicted jump takes longer than a few operations. So if both sides compute little, and may be computed at any
// time, both are computed and their results are selected:
//
//   if c { v := a + 1; cell := v }                     v = a + 1;  cell = c ? v : cell
//   if c { x := a } else { w := b * 2; x := w }   ⟹    w = b * 2;  x = c ? a : w
//
// The results of the side that is not taken are never used. A side remains conditional if it may stop the run, is
// visible outside, loops, calls or takes long. In a network all sides remain conditional, because other tasks may read
// a cell at any time.
#include "lowering/llvm/statements/branch.h"

#include <map>
#include <set>
#include <stdexcept>

#include "lowering/llvm/statements/statement.h"
#include "semantics/core/queries.h"
#include "semantics/values/overloaded.h"

namespace rml::codegen {

namespace {

// The cost of the sides of a branch in instructions; `dear` if they cannot become selects.
class Cost {
 public:
  Cost(const Core& core, const Costs& costs) : cheap(costs.wrong_guess), core_(core) {}
  const int cheap;  // largest cost of a side that is executed unconditionally: the cost of a mispredicted jump
  const int dear = cheap + 1;

  int of(const steps::Branch& b) {
    if (b.test.kind != steps::Test::value) return dear;
    return 1 + of(*b.then_block) + of(*b.else_block);
  }

 private:
  int of(const steps::Block& block) {
    int sum = 0;
    for (const steps::Statement& s : block.statements) {
      sum += std::visit(
          Overloaded{[&](const steps::Compute& c) { return of(c.value); },
                     [&](const steps::Copy& c) { return in_register(c.to) ? 0 : dear; },
                     [&](const steps::LoadCell& l) { return of(l); }, [&](const steps::StoreCell& s) { return of(s); },
                     [&](const steps::Branch& b) { return of(b); }, [&](const auto&) { return dear; }},
          s);
      if (sum > cheap) return dear;
    }
    return sum;
  }

  int of(ValueId v) const {
    if (core_.is_const(v)) return 0;
    const auto* a = apply_of(core_, v, Lowering::elementwise);
    if (a == nullptr || !in_register(v) || !only_computes(core_, v)) return dear;
    for (const ValueId o : a->operands)
      if (!in_register(o)) return dear;
    return operators()[a->op].effort == Effort::instruction ? 1 : dear;
  }

  // A cell must be loaded before it is stored, and stored once.
  int of(const steps::LoadCell& l) const { return in_register(l.value) && !stored_.contains(l.cell) ? 1 : dear; }
  int of(const steps::StoreCell& s) { return in_register(s.value) && stored_.insert(s.cell).second ? 2 : dear; }

  bool in_register(ValueId v) const { return core_[v].shape.empty() && !is_half(core_[v].dtype); }

  const Core& core_;
  std::set<CellId> stored_;
};

// The value that a cheap statement defines; invalid if it defines none.
ValueId defined_by(const steps::Statement& statement) {
  return std::visit(
      Overloaded{[](const steps::Compute& s) { return s.value; }, [](const steps::Copy& s) { return s.to; },
                 [](const steps::LoadCell& s) { return s.value; }, [](const auto&) { return ValueId(); }},
      statement);
}

IrValue emit_test(Function& f, const steps::Test& t) {
  auto& ir = f.ir;
  switch (t.kind) {
    case steps::Test::value:
      f.locate(f.info(t.condition).span);
      return f.scalar(t.condition);
    case steps::Test::first:
      if (f.position == nullptr) throw std::logic_error("code generation: a first instant outside of segments");
      return ir.CreateICmpEQ(f.position, ir.getInt64(0), "first");
    case steps::Test::last:
      if (f.length == nullptr && f.last_flag == nullptr)
        throw std::logic_error("code generation: a last instant outside of segments");
      if (f.last_flag != nullptr) return ir.CreateLoad(ir.getInt1Ty(), f.last_flag, "last");
      return ir.CreateICmpEQ(f.position, ir.CreateSub(f.length, ir.getInt64(1)), "last");
  }
  throw std::logic_error("code generation: an unknown test");
}

bool is_choice(const Function& f, const steps::Branch& s) {
  if (f.module.options.target.optimization == 0 || !f.module.target.guesses || f.module.program.network) return false;
  Cost cost(f.module.core, f.module.target.costs);
  return cost.of(s) <= cost.cheap;
}

// Prevents LLVM from turning the select back into a jump, which it does if it considers the jump predictable.
IrValue choose_value(Function& f, IrValue condition, IrValue yes, IrValue no) {
  IrValue chosen = f.ir.CreateSelect(condition, yes, no);
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(chosen))
    select->setMetadata(llvm::LLVMContext::MD_unpredictable, llvm::MDNode::get(f.module.context, {}));
  return chosen;
}

IrValue load_cell(Function& f, CellId cell) {
  const DType dtype = f.module.program.cells[cell.index].dtype;
  return dtype == DType::boolean ? f.load_truth(f.cell_address(cell)) : f.load(dtype, f.cell_address(cell));
}

// The values that the branch defines and that have been defined before, since a value may be defined in two branches.
std::map<ValueId, IrValue> defined_before(Function& f, const steps::Branch& s) {
  std::map<ValueId, IrValue> before;
  for (const steps::Block* block : {s.then_block.get(), s.else_block.get()})
    for (const steps::Statement& statement : block->statements) {
      if (const auto* branch = std::get_if<steps::Branch>(&statement)) before.merge(defined_before(f, *branch));
      if (const ValueId v = defined_by(statement); v.valid() && f.is_defined(v)) before[v] = f.scalar(v);
    }
  return before;
}

// One side of a branch: the values that it defines, and the contents that it leaves in cells.
struct Side {
  std::map<ValueId, IrValue> values;
  std::map<CellId, IrValue> cells;
};

Side compute_side(Function& f, const steps::Block& block);

Side choose(Function& f, const steps::Branch& s) {
  IrValue condition = emit_test(f, s.test);
  // A value or cell that only one side writes keeps its old value on the other.
  const auto join = [&](const auto& yes, const auto& no, const auto& kept) {
    auto all = yes;
    all.insert(no.begin(), no.end());
    for (auto& [place, value] : all) {
      const auto a = yes.find(place), b = no.find(place);
      IrValue here = a != yes.end() ? a->second : kept(place), there = b != no.end() ? b->second : kept(place);
      if (here != nullptr && there != nullptr) value = choose_value(f, condition, here, there);
    }
    return all;
  };
  const std::map<ValueId, IrValue> before = defined_before(f, s);
  const Side yes = compute_side(f, s.test.positive ? *s.then_block : *s.else_block);
  const Side no = compute_side(f, s.test.positive ? *s.else_block : *s.then_block);
  Side both;
  both.values = join(yes.values, no.values, [&](ValueId v) {
    const auto at = before.find(v);
    return at == before.end() ? nullptr : at->second;
  });
  both.cells = join(yes.cells, no.cells, [&](CellId c) { return load_cell(f, c); });
  for (const auto& [v, value] : both.values) f.define(v, value);
  return both;
}

// Computes one side. Its stores are not emitted but returned.
Side compute_side(Function& f, const steps::Block& block) {
  Side side;
  for (const steps::Statement& statement : block.statements) {
    std::visit(Overloaded{[&](const steps::StoreCell& s) { side.cells[s.cell] = f.scalar(s.value); },
                          [&](const steps::Branch& s) {
                            const Side inner = choose(f, s);
                            for (const auto& [v, value] : inner.values) side.values[v] = value;
                            for (const auto& [c, value] : inner.cells) side.cells[c] = value;
                          },
                          [&](const auto& s) { emit(f, s); }},
               statement);
    if (const ValueId v = defined_by(statement); v.valid()) side.values[v] = f.scalar(v);
  }
  return side;
}

}  // namespace

void emit_branch(Function& f, const steps::Branch& s, const std::function<void(const steps::Block&)>& emit_block) {
  if (is_choice(f, s)) {
    for (const auto& [cell, value] : choose(f, s).cells)
      f.store(f.module.program.cells[cell.index].dtype, value, f.cell_address(cell));
    return;
  }
  IrValue condition = emit_test(f, s.test);
  const steps::Block* yes = s.then_block.get();
  const steps::Block* no = s.else_block.get();
  if (!s.test.positive) std::swap(yes, no);
  if (yes->statements.empty() && no->statements.empty()) return;
  if (yes->statements.empty()) {
    condition = f.ir.CreateNot(condition);
    std::swap(yes, no);
  }
  if (no->statements.empty())
    f.when(condition, [&] { emit_block(*yes); });
  else
    f.when(condition, [&] { emit_block(*yes); }, [&] { emit_block(*no); });
}

}  // namespace rml::codegen
