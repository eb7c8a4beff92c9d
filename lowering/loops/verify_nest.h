// Verifies a nest: operands precede their uses and have the right dtype, accesses stay within their buffers, only
// writable spaces are written, and the rounds of an axis that is `each` are independent of one another.
#pragma once

#include <map>
#include <set>
#include <string>

#include "lowering/loops/loops.h"

namespace rml::loops {

// The indices that checks before a nest have found to be in [0, bound), identified by their computation.
class CheckedIndices {
 public:
  void learn(const Program&, const Nest&);
  // Forgets indices that were computed from this buffer, because its elements may have changed.
  void forget(BufferId);
  void forget() { found_.clear(); }
  // The bound of an element of the nest; -1 if it was not checked.
  std::int64_t bound(const Program&, const Nest&, std::uint32_t element) const;

 private:
  struct Found {
    std::int64_t bound = 0;
    std::set<BufferId> of;
  };
  std::map<std::string, Found> found_;
};

// The first violation, or empty. `sites`: the number of sites in the program.
std::string find_violation(const Program&, const Nest&, const CheckedIndices&, std::size_t sites);

// Calls f(access, written) for every access, in order; the access of a sum counts as written.
template <class F>
void each_access(const Nest& nest, const F& f) {
  for (const Element& e : nest.body) {
    if (const auto* load = std::get_if<Load>(&e)) f(load->from, false);
    if (const auto* store = std::get_if<Store>(&e)) f(store->to, true);
    if (const auto* sum = std::get_if<Sum>(&e)) f(sum->onto, true);
  }
}

}  // namespace rml::loops
