// Which places of its state a scalar form looks at.
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace rml::codegen {

// A constant distance from the state's beginning: what begins there, whatever is added to it, is read or written.
struct TouchedPlace {
  std::uint64_t offset;
  bool written;
};

// None: it is not known, as a place is computed in one with the state's beginning.
std::optional<std::vector<TouchedPlace>> touched_places(const llvm::Function& scalar);

}  // namespace rml::codegen
