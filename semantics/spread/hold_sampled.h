// Removes memory from clocks that differ between elements. The memory is held at every instant of
// the enclosing clock, which is the same for all elements, and changes where the element is
// present:
//
//   s = 0 fby n   on c       m = 0 fby (merge c n (m when not c));    s = m when c
#pragma once

#include "semantics/spread/elements.h"

namespace rml::mapped {

// Moves random draws to the enclosing clock as well. Asserts become true where an element is
// absent.
void hold_sampled(Core& body, const Elements&);

}  // namespace rml::mapped
