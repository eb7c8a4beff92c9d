// Type schemes: what the types of an item leave open, as variables that are numbered in order of appearance.
//
// Example: in `node f(x) -> (o) o = x * 2.0;` x and o share a class of floats: variable 0 of the scheme.
#pragma once

#include <cstdint>
#include <vector>

#include "semantics/check/checked.h"
#include "semantics/check/infer_types_solver.h"

namespace rml {

class SchemeTypes {
 public:
  explicit SchemeTypes(TypeSolver& solver) : solver_(solver), index_(solver.size(), -1) {}

  // Makes a variable of a type that is still open, unless it has one.
  void generalise(TypeId t);
  // A variable of the scheme, or the dtype that t is or falls back to.
  TypeTerm term(TypeId t);
  const TypeScheme& scheme() const { return scheme_; }

 private:
  TypeSolver& solver_;
  TypeScheme scheme_;
  std::vector<std::int32_t> index_;  // by class: its variable, or -1
};

}  // namespace rml
