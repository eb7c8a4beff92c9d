// What LLVM is told of loads and stores: which of them never meet.
#pragma once

#include <cstddef>
#include <vector>

#include "lowering/llvm/module/ir_types.h"

namespace rml::codegen {

// Scopes under which a load or store is known not to overlap with others of its loop; the group
// of those that may overlap, but with none of another round.
struct Access {
  llvm::MDNode* scope = nullptr;
  llvm::MDNode* noalias = nullptr;
  llvm::MDNode* group = nullptr;
};

void mark(llvm::Instruction*, Access);
// Of so many tensors of a loop: the first `written` are written, each overlaps with no other; the rest are read.
std::vector<Access> separate(llvm::LLVMContext&, std::size_t count, std::size_t written = 1);

}  // namespace rml::codegen
