// Finds the touched places of a state (touched.h). They are constant offsets from its beginning (Function::at);
// variable distances added to an offset stay within the cell that begins there.
#include "lowering/llvm/lanes/touched.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

namespace rml::codegen {

namespace {

// True if the function contains a store to this address.
bool is_written(const llvm::Value& address, llvm::SmallPtrSetImpl<const llvm::Value*>& seen) {
  if (!seen.insert(&address).second) return false;
  bool written = false;
  for (const llvm::User* user : address.users()) {
    if (llvm::isa<llvm::LoadInst>(user)) continue;
    const bool leads_on =
        llvm::isa<llvm::GEPOperator>(user) || llvm::isa<llvm::PHINode>(user) || llvm::isa<llvm::SelectInst>(user);
    written = written || !leads_on || is_written(*user, seen);
  }
  return written;
}

}  // namespace

std::optional<std::vector<TouchedPlace>> touched_places(const llvm::Function& scalar) {
  std::vector<TouchedPlace> found;
  for (const llvm::User* user : scalar.getArg(0)->users()) {
    llvm::APInt offset(64, 0);
    const auto* place = llvm::dyn_cast<llvm::GEPOperator>(user);
    if (place != nullptr && !place->accumulateConstantOffset(scalar.getDataLayout(), offset)) return std::nullopt;
    llvm::SmallPtrSet<const llvm::Value*, 16> seen;
    const bool written = place != nullptr ? is_written(*place, seen) : !llvm::isa<llvm::LoadInst>(user);
    found.push_back({offset.getZExtValue(), written});
  }
  return found;
}

}  // namespace rml::codegen
