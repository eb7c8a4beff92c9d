// The complete text of a schedule, as `rmlc opt` reads and writes it. (`rmlc show schedule` prints a summary.)
//
//   form schedule 1
//   core main …                     the core, as core_text.h has it
//   end
//   straight                        the schedule is straight
//   source %5 = %4 + 1              %5 is the stream of %4 without its first element
//   delayed %3                      memories whose unit hands out the next value; if there are none: the word alone
//   unit 0 forward on base          the clock is known from complete_units on
//     reads %2 needed %1 not %3
//     value %4 = add %1 %2          the equation may be left out; else it must be the core's
//   unit 1 segmented on c2
//     cut not %6                    the cut that the analysis found; `by_need`: unneeded posts may look beyond it
//     ends %9                       the same as a value
//     only_at_cut %8                assumed to hold nowhere else
//     awaits %10 where %1 not %2 where never
//     sweep backward
//       %10 = post %2 at first last the classes of instants, unless it is at all of them
//     idle %11 as %12
//   unit_of %5 = 0                  where it is not the unit that lists it; `none`
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lowering/schedule/schedule.h"
#include "semantics/values/text_lines.h"

namespace rml {

std::string schedule_text(const Schedule&);
// Returns nothing, and the first fault, if the text is not a schedule. Every id refers to the core, which is verified.
// validate_schedule decides whether the schedule is right.
std::optional<Schedule> read_schedule(std::string_view text, TextFault&);

// A schedule within another form: the same lines, without the first one and `end`. Reading starts at the line after the
// current one.
std::string inner_schedule_text(const Schedule&);
std::optional<Schedule> read_inner_schedule(TextLines& lines);

}  // namespace rml
