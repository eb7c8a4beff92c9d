// The body of a `map` without memory on clocks that differ between elements: what is remembered there is held at every
// instant of the clock outside, which is one for all, and moves where the element is there.
//
//   s = 0 fby n   on c       m = 0 fby (merge c n (m when not c));    s = m when c
#pragma once

#include "semantics/spread/elements.h"

namespace rml::mapped {

// Random draws stand on the clock outside as well, and asserts hold where an element is not there.
void hold_sampled(Core& body, const Elements&);

}  // namespace rml::mapped
