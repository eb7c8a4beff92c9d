// The complete text of segments, as `rmlc opt` reads and writes it between a schedule and its steps.
//
//   form segments 1
//   core main …                             the schedule, as schedule_text.h has it
//   end
//   …
//   end
//   segment of unit 1
//     sweep forward
//       %4 at first last                    the classes of instants, unless it is at all of them
//     sweep backward
//       %5 = add %4 %3                      the equation may be left out; else it must be the core's
//     product %6 rows (4, 3, 1) %4 (3, 1) times held %2 (1, 1)
//                                           m, inner and n, and of each matrix the strides of rows and columns; or
//                                           `sum`
//     memory %7 in_place 1 begins shares %8
//     home %4 array                         or `cell`, `settled`, `memory %7`, `next %7`
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lowering/segment/segment.h"
#include "semantics/values/text_lines.h"

namespace rml {

std::string segments_text(const Segments&);
// Returns nothing, and the first fault, if the text does not describe segments. The result has been verified.
std::optional<Segments> read_segments(std::string_view text, TextFault&);

}  // namespace rml
