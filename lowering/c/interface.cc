// Answers queries of the printer about ports and statements.
#include "lowering/c/interface.h"

#include <algorithm>

#include "semantics/core/queries.h"
#include "semantics/values/overloaded.h"

namespace rml::c99 {

namespace {

struct Scan {
  const loops::Program& program;
  bool fault = false, draw = false;

  void block(const loops::Block& b, const Core& core) {
    for (const loops::Statement& s : b.statements) statement(s, core);
  }
  void statement(const loops::Statement& s, const Core& core) {
    std::visit(Overloaded{
                   [&](const loops::Nest& n) {
                     fault |= std::ranges::any_of(n.body, [&](const loops::Element& e) {
                       const auto* check = std::get_if<loops::Check>(&e);
                       return check != nullptr && !never_holds(n, *check);
                     });
                   },
                   [](const loops::Copy&) {},
                   [&](const loops::Kernel& k) {
                     const core::Apply* apply = apply_of(core, k.of);
                     draw |= apply != nullptr && operators()[apply->op].lowering == Lowering::random;
                     fault |= apply != nullptr && operators()[apply->op].can_fail;
                   },
                   [](const loops::ExternalCall&) {},
                   [&](const loops::Rounds& r) { block(*r.block, *program.bodies[r.body]->core); },
                   [&](const loops::Branch& b) { block(*b.then_block, core), block(*b.else_block, core); },
                   [](const loops::Push&) {},
                   [&](const loops::Expect&) { fault = true; },
                   [&](const loops::Assert&) { fault = true; },
                   [&](const loops::SideCell&) { fault = true; },
                   [](const loops::MarkLast&) {},
               },
               s);
  }
};

Scan scanned(const loops::Program& program) {
  Scan scan{program};
  const Core& core = *program.steps->core;
  for (const loops::Unit& unit : program.units) {
    for (const loops::Block* block : {&unit.instant, &unit.before, &unit.commit}) scan.block(*block, core);
    for (const loops::Sweep& sweep : unit.sweeps) scan.block(sweep.prologue, core), scan.block(sweep.body, core);
  }
  return scan;
}

}  // namespace

bool never_holds(const loops::Nest& nest, const loops::Check& check) {
  const auto* asked = std::get_if<loops::Operation>(&nest.body[check.bad]);
  if (asked == nullptr || asked->op != ScalarOp::eq) return false;
  const auto* a = std::get_if<loops::Number>(&nest.body[asked->operands[0]]);
  const auto* b = std::get_if<loops::Number>(&nest.body[asked->operands[1]]);
  return a != nullptr && b != nullptr && is_integer(asked->dtype) && !(a->value == b->value);
}

bool can_fault(const loops::Program& program) { return scanned(program).fault; }
bool draws(const loops::Program& program) { return scanned(program).draw; }

}  // namespace rml::c99
