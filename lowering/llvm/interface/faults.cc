// Scans all statements and the operators they compute for faults and random draws.
#include "lowering/llvm/interface/faults.h"

#include "semantics/core/queries.h"
#include "semantics/values/overloaded.h"

namespace rml::codegen {

namespace {

struct Scan {
  const steps::Program& program;
  const Core& core;
  bool fault = false, draw = false;

  void compute(ValueId v);
  void block(const steps::Block&);
};

void Scan::compute(ValueId v) {
  fault |= can_fail(core, v);
  const auto* apply = apply_of(core, v);
  if (apply == nullptr) return;
  const OperatorInfo& row = operators()[apply->op];
  draw |= row.lowering == Lowering::random;
  for (const ValueId operand : apply->operands) {
    if (operand.index < program.inlined.size() && program.inlined[operand.index]) compute(operand);
  }
}

void Scan::block(const steps::Block& block) {
  for (const steps::Statement& statement : block.statements) {
    std::visit(Overloaded{
                   [&](const steps::Compute& s) { compute(s.value); },
                   [&](const steps::Expect&) { fault = true; },
                   [&](const steps::Assert&) { fault = true; },
                   [&](const steps::SideCell&) { fault = true; },
                   [&](const steps::Branch& s) { this->block(*s.then_block), this->block(*s.else_block); },
                   [](const steps::Copy&) {},
                   [](const steps::LoadCell&) {},
                   [](const steps::StoreCell&) {},
                   [](const steps::MoveCell&) {},
                   [](const steps::LoadArray&) {},
                   [](const steps::StoreArray&) {},
                   [](const steps::Push&) {},
                   [](const steps::LoadInput&) {},
                   [](const steps::StoreOutput&) {},
                   [](const steps::MarkLast&) {},
                   [](const steps::SegmentProduct&) {},
               },
               statement);
  }
}

Scan scanned(const steps::Program& program) {
  Scan scan{program, *program.core};
  for (const steps::Unit& unit : program.units)
    for (const steps::Block* block : {&unit.before, &unit.instant}) scan.block(*block);
  return scan;
}

}  // namespace

bool can_fault(const steps::Program& program) { return scanned(program).fault; }
bool draws(const steps::Program& program) { return scanned(program).draw; }

}  // namespace rml::codegen
