// Creates alias scopes, a set of them for each loop.
#include "lowering/llvm/function/access.h"

#include <llvm/IR/MDBuilder.h>

namespace rml::codegen {

void mark(llvm::Instruction* instruction, Access access) {
  if (access.scope != nullptr) instruction->setMetadata(llvm::LLVMContext::MD_alias_scope, access.scope);
  if (access.noalias != nullptr) instruction->setMetadata(llvm::LLVMContext::MD_noalias, access.noalias);
  if (access.group != nullptr) instruction->setMetadata(llvm::LLVMContext::MD_access_group, access.group);
}

std::vector<Access> separate(llvm::LLVMContext& context, std::size_t count, std::size_t written) {
  llvm::MDBuilder metadata(context);
  auto* domain = metadata.createAnonymousAliasScopeDomain("loop");
  std::vector<llvm::Metadata*> scopes;
  for (std::size_t k = 0; k < count; ++k) scopes.push_back(metadata.createAnonymousAliasScope(domain));
  std::vector<Access> access;
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<llvm::Metadata*> others;
    for (std::size_t o = 0; o < (k < written ? count : written); ++o)
      if (o != k) others.push_back(scopes[o]);
    access.push_back({llvm::MDNode::get(context, {scopes[k]}), llvm::MDNode::get(context, others)});
  }
  return access;
}

}  // namespace rml::codegen
