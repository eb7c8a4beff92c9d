// Emits initial values: small ones element by element, others as blocks of bytes.
#include "lowering/llvm/statements/initial.h"

#include "runtime/base/rmlrt.h"

namespace rml::codegen {

void set_initial(Function& body, const steps::CellInfo& cell, IrValue place) {
  auto& ir = body.ir;
  const llvm::Align align(byte_size(cell.dtype));
  const std::int64_t count = elements(cell.shape);
  const std::uint64_t bytes = static_cast<std::uint64_t>(count) * byte_size(cell.dtype);
  const bool given = cell.initial.elements() == count && bytes > 0 && cell.initial.dtype() == cell.dtype;
  // Large cells are set by one call, because their zeros may exceed the compiler's memory.
  if (count > body.module.target.unrolled_elements) {
    if (!given || all_zero(cell.initial))
      ir.CreateMemSet(place, ir.getInt8(0), bytes, align);
    else
      ir.CreateMemCpy(place, align, body.module.tensor(cell.initial), align, bytes);
    return;
  }
  const Tensor initial = given ? cell.initial : Tensor(cell.dtype, cell.shape);
  for (std::int64_t i = 0; i < initial.elements(); ++i) {
    body.store(cell.dtype, element_constant(body.module.context, initial, i),
               body.offset(cell.dtype, place, body.constant(i)));
  }
}

namespace {

void begin_window(Function& body, const steps::CellInfo& cell, std::uint64_t offset) {
  body.store_i64(body.ir.getInt64(0), offset);
  for (const std::uint64_t copy : {0, 1})
    set_initial(body, cell, body.at(offset + sizeof(rml_window) + copy * bytes(cell.dtype, cell.shape)));
}

}  // namespace

void emit_initial_values(Function& body) {
  Emission& module = body.module;
  for (std::size_t k = 0; k < module.program.cells.size(); ++k) {
    const steps::CellInfo& cell = module.program.cells[k];
    if (cell.local) continue;
    if (module.window_of(CellId(k)) != nullptr)
      begin_window(body, cell, module.layout.cells[k]);
    else
      set_initial(body, cell, body.cell_address(CellId(k)));
  }
  for (const std::uint64_t flag : module.layout.pack_flags) body.ir.CreateStore(body.ir.getInt8(0), body.at(flag));
  if (module.layout.bias == 0)
    body.ir.CreateStore(body.ir.getInt32(UINT32_MAX), module.header_field(body.ir, body.state, field::waiting));
  for (std::size_t q = 0; q < module.program.queues.size(); ++q) {
    const steps::QueueInfo& queue = module.program.queues[q];
    body.store_i64(body.ir.getInt64(0), module.layout.queues[q].pushed);
    for (std::uint32_t reader = 0; reader < queue.readers; ++reader) {
      const std::uint32_t skip = reader < queue.skips.size() ? queue.skips[reader] : 0;
      body.store_i64(body.ir.getInt64(skip), module.layout.queues[q].cursor(reader));
    }
  }
  for (const std::uint64_t slot : module.layout.slots) body.ir.CreateStore(body.at(slot), body.at(slot));
  if (module.program.straight) return;
  for (std::size_t u = 0; u < module.program.units.size(); ++u) {
    body.store_i64(body.ir.getInt64(0), module.layout.units[u].cycle);
    if (module.program.units[u].segmented) body.store_i64(body.ir.getInt64(0), module.layout.units[u].length);
  }
}

}  // namespace rml::codegen
