// Type schemes: the types that an item leaves open, as variables numbered in order of appearance.
//
// Example: in `node f(x) -> (o) o = x * 2.0;` x and o share a class of floats, variable 0 of the
// scheme.
#pragma once

#include <cstdint>
#include <vector>

#include "semantics/check/checked.h"
#include "semantics/check/infer_types_solver.h"

namespace rml {

class SchemeTypes {
 public:
  explicit SchemeTypes(TypeSolver& solver) : solver_(solver), index_(solver.size(), -1) {}

  // Makes t a variable of the scheme if it is open and has none yet.
  void generalise(TypeId t);
  // The scheme's variable for t, or the dtype that t has or defaults to.
  TypeTerm term(TypeId t);
  const TypeScheme& scheme() const { return scheme_; }

 private:
  TypeSolver& solver_;
  TypeScheme scheme_;
  std::vector<std::int32_t> index_;  // indexed by class of types: the scheme's variable for it, or -1
};

}  // namespace rml
