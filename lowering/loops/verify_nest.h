// What a nest must be: operands before use and of the right dtype, accesses within their buffers, spaces that may be
// written, and rounds of an axis that is `each` independent of one another.
#pragma once

#include <map>
#include <set>
#include <string>

#include "lowering/loops/loops.h"

namespace rml::loops {

// Indices that checks in front of a nest have found to lie in [0, bound), by what computes them.
class CheckedIndices {
 public:
  void learn(const Program&, const Nest&);
  // What was computed of this buffer's elements may be something else now.
  void forget(BufferId);
  void forget() { found_.clear(); }
  // Of the element of the nest; -1: it was not checked.
  std::int64_t bound(const Program&, const Nest&, std::uint32_t element) const;

 private:
  struct Found {
    std::int64_t bound = 0;
    std::set<BufferId> of;
  };
  std::map<std::string, Found> found_;
};

// The first violation, or empty. `sites`: of the program.
std::string find_violation(const Program&, const Nest&, const CheckedIndices&, std::size_t sites);

// Calls f(access, written) for every access, in order; a sum is one that is written.
template <class F>
void each_access(const Nest& nest, const F& f) {
  for (const Element& e : nest.body) {
    if (const auto* load = std::get_if<Load>(&e)) f(load->from, false);
    if (const auto* store = std::get_if<Store>(&e)) f(store->to, true);
    if (const auto* sum = std::get_if<Sum>(&e)) f(sum->onto, true);
  }
}

}  // namespace rml::loops
