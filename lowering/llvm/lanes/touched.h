// Finds the places of its state that a scalar form reads or writes.
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace rml::codegen {

// A constant offset from the state's beginning. Memory from there on, at some variable distance, is read or written.
struct TouchedPlace {
  std::uint64_t offset;
  bool written;
};

// Nothing if the places are unknown, because an address is not computed from the state's beginning directly.
std::optional<std::vector<TouchedPlace>> touched_places(const llvm::Function& scalar);

}  // namespace rml::codegen
