// Lists the pieces of a state: header fields, cells and kept outputs, each from the layout.
#include "lowering/llvm/interface/pieces.h"

#include <algorithm>

#include "runtime/base/rmlrt.h"

namespace rml::codegen {

std::vector<Piece> pieces_of(const Emission& module, const std::vector<std::pair<std::size_t, std::uint64_t>>& kept) {
  std::vector<Piece> pieces;
  const StateLayout& layout = module.layout;
  if (layout.bias == 0) {
    const llvm::DataLayout& data = module.module.getDataLayout();
    const llvm::StructLayout* fields = data.getStructLayout(module.abi.header);
    for (unsigned k = 0; k < module.abi.header->getNumElements(); ++k)
      pieces.push_back({fields->getElementOffset(k), data.getTypeStoreSize(module.abi.header->getElementType(k)), 1});
  }
  const auto add = [&](std::uint64_t at, DType d, std::int64_t count, std::uint64_t of) {
    if (count > 0) pieces.push_back({at - layout.bias, byte_size(d), count, of - layout.bias});
  };
  for (std::size_t k = 0; k < module.program.cells.size(); ++k) {
    const steps::CellInfo& cell = module.program.cells[k];
    if (cell.local) continue;
    const bool window = module.window_of(CellId(k)) != nullptr;
    if (window) pieces.push_back({layout.cells[k] - layout.bias, sizeof(std::int64_t), 1});
    add(layout.cells[k] + (window ? sizeof(rml_window) : 0), cell.dtype, (window ? 2 : 1) * elements(cell.shape),
        layout.cells[k]);
  }
  for (const auto& [output, place] : kept) add(place, module.core[module.core.outputs[output].value].dtype, 1, place);
  return pieces;
}

std::uint64_t bytes_of(const std::vector<Piece>& pieces) {
  std::uint64_t end = 0;
  for (const Piece& p : pieces) end = std::max(end, p.end());
  return (end + 7) / 8 * 8;
}

std::vector<Piece> joined(std::vector<Piece> pieces) {
  std::ranges::sort(pieces, {}, &Piece::offset);
  std::vector<Piece> found;
  for (const Piece& p : pieces) {
    if (!found.empty() && found.back().goes_on_in(p))
      found.back().count += p.count;
    else
      found.push_back(p);
  }
  return found;
}

}  // namespace rml::codegen
