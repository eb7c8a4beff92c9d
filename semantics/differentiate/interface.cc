// Queries about the dtypes and clocks of interfaces.
#include "semantics/differentiate/interface.h"

namespace rml {

bool is_float(TypeTerm term, const std::vector<bool>& floats) {
  if (term.variable < 0) return has_gradient(term.dtype);
  return static_cast<std::size_t>(term.variable) < floats.size() && floats[static_cast<std::size_t>(term.variable)];
}

std::vector<bool> possible_floats(const TypeScheme& scheme) {
  std::vector<bool> floats;
  for (const DTypeSet set : scheme.variables) floats.push_back((set & dtypes::real) != 0);
  return floats;
}

std::uint32_t root_of(const ClockedNode& node, ClockTermId term) {
  while (term.valid() && node.terms[term.index].kind == ClockTerm::on) term = node.terms[term.index].parent;
  return term.valid() && node.terms[term.index].kind == ClockTerm::variable ? node.terms[term.index].index : UINT32_MAX;
}

std::vector<const ClockTerm*> samplings_of(const ClockedNode& node, ClockTermId clock) {
  std::vector<const ClockTerm*> list;
  for (; clock.valid() && node.terms[clock.index].kind == ClockTerm::on; clock = node.terms[clock.index].parent)
    list.push_back(&node.terms[clock.index]);
  std::ranges::reverse(list);
  return list;
}

}  // namespace rml
