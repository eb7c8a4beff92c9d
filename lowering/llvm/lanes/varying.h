// Which values of a scalar form differ between lanes.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Function.h>

namespace rml::codegen {

// What is read of a state, of a port or of a variable differs, and all that is computed of it. What depends on a branch
// that differs is found once that is a choice (converge.h).
class Varying {
 public:
  explicit Varying(const llvm::Function&);

  bool contains(const llvm::Value* v) const { return found_.contains(v); }
  // This value differs, and all that is computed of it.
  void add(const llvm::Value&);
  // Of a value that is about to be erased.
  void forget(const llvm::Value& v) { found_.erase(&v); }

 private:
  llvm::DenseSet<const llvm::Value*> found_;
};

}  // namespace rml::codegen
