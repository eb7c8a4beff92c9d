// A scheme variable stands for a class of the solver, so all members of the class map to it.
#include "semantics/check/infer_types_scheme.h"

namespace rml {

void SchemeTypes::generalise(TypeId t) {
  const TypeId root = solver_.find(t);
  if (decided(solver_.set(root)) || index_[root.index] >= 0) return;
  index_[root.index] = static_cast<std::int32_t>(scheme_.variables.size());
  scheme_.variables.push_back(solver_.set(root));
  scheme_.defaults.push_back(solver_.fallback(root));
}

TypeTerm SchemeTypes::term(TypeId t) {
  const TypeId root = solver_.find(t);
  if (index_[root.index] >= 0) return {index_[root.index], DType::f32};
  return {-1, solver_.fallback(root)};
}

}  // namespace rml
