// Finds the values of a scalar form that differ between lanes.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Function.h>

namespace rml::codegen {

// Values loaded from a state, a port or a variable differ, and all values computed from them. Values that depend on a
// differing branch are found when the branch becomes a select (converge.h).
class Varying {
 public:
  explicit Varying(const llvm::Function&);

  bool contains(const llvm::Value* v) const { return found_.contains(v); }
  // Marks this value, and all values computed from it, as differing.
  void add(const llvm::Value&);
  // Must be called before a value is erased.
  void forget(const llvm::Value& v) { found_.erase(&v); }

 private:
  llvm::DenseSet<const llvm::Value*> found_;
};

}  // namespace rml::codegen
