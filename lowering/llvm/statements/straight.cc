// Emits a cycle of a straight program: one instant of its only unit.
#include "lowering/llvm/statements/straight.h"

#include "lowering/llvm/statements/block.h"

namespace rml::codegen {

void emit_straight(Function& body) {
  const steps::Unit& unit = body.module.program.units[0];
  Aliasing aliasing(body.module.program, body.module.windows, body.module.target);
  aliasing.add({&unit.instant}, nullptr);
  body.aliasing = &aliasing;
  for (const PortPlaces::Output& output : body.ports.outputs) {
    if (output.flag != nullptr) body.ir.CreateStore(body.ir.getInt8(0), output.flag);
  }
  emit_block(body, unit.instant);
  body.aliasing = nullptr;
}

}  // namespace rml::codegen
