// What has no lanes, and where in the source.
#pragma once

#include <llvm/IR/Instruction.h>

#include <string>
#include <utility>

namespace rml::codegen {

// Thrown by whoever makes lanes; emit() tells the user.
struct NoLanes {
  std::string what;
  llvm::DebugLoc at;
  NoLanes(std::string reason, const llvm::Instruction* instruction)
      : what(std::move(reason)), at(instruction == nullptr ? llvm::DebugLoc() : instruction->getDebugLoc()) {}
};

}  // namespace rml::codegen
