// Alias information for LLVM: which loads and stores never overlap.
#pragma once

#include <cstddef>
#include <vector>

#include "lowering/llvm/module/ir_types.h"

namespace rml::codegen {

// Alias scopes with which a load or store does not overlap, and the group of accesses that may overlap within a round
// of the loop, but not across rounds.
struct Access {
  llvm::MDNode* scope = nullptr;
  llvm::MDNode* noalias = nullptr;
  llvm::MDNode* group = nullptr;
};

void mark(llvm::Instruction*, Access);
// For a loop over `count` tensors. The first `written` are written and overlap with no other; the rest are read.
std::vector<Access> separate(llvm::LLVMContext&, std::size_t count, std::size_t written = 1);

}  // namespace rml::codegen
