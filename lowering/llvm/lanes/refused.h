// An operation that cannot be done in lanes, and its place in the source.
#pragma once

#include <llvm/IR/Instruction.h>

#include <string>
#include <utility>

namespace rml::codegen {

// Thrown when lanes cannot be made; emit() reports it to the user.
struct NoLanes {
  std::string what;
  llvm::DebugLoc at;
  NoLanes(std::string reason, const llvm::Instruction* instruction)
      : what(std::move(reason)), at(instruction == nullptr ? llvm::DebugLoc() : instruction->getDebugLoc()) {}
};

}  // namespace rml::codegen
