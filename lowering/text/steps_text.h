// The complete text of steps, as `rmlc opt` reads and writes it. (`rmlc show steps` prints a summary.)
//
//   form steps 1
//   core main …                                    the core, as core_text.h has it
//   end
//   straight                                       and `network`: the kind of the program
//   cell 0 f32[2] = [1,2] local "sum" of %5        its initial value (zeros), the fby whose memory it is
//   queue 0 f32 readers +0 +1 overtaken passing first %1 of %5 "x"
//   array 0 f32 of unit 1 "segment x"
//   input 0 queue 0 flags 1
//   site 0 "division by zero" @1:20-25             site_of %4 = 0
//   cut 0 "end" @1:3-6
//   parameter layer.w f32[2] site %7 cell 1
//   inlined %8 %9
//   watch output 0 shows %4 named %4               watch memory %5 cell 0 shows %6 named %5
//   window %6 in cell 2                            pack 0 of cell 1 unit 3 for %8 %9
//   unit 0 forward on base "main_unit0"
//     operand %2 = queue 0 reader 1 if %1 needed not %3 once
//     raw_input 1
//     after 0
//     instant
//       %5 := cell 0
//       %6 = add %5 %2                             computes an equation; the part after `=` must be the core's,
//       nothing if not %1                          or is left out
//         %7 := %6
//       else
//         %7 := %5
//       end
//       cell 0 := %6
//     end
//   unit 1 segmented on c2 cut 0 "main_unit1"
//     sweep backward
//     prologue … end
//     loop … end                                   at each instant
//     commit … end
//   rows                                           operands as those of units
//     operand %7 = queue 1
//     output 0 = operand 0
//   body 0                                         of the iteration that is external 0: the same lines, from its core
//   on … end
//   leader 0 2 memories cell 1 queue 3 none        the outputs that the leader hands out, and the places of its cells;
//   core … end                                     then the leader's program
//
// A program that runs on demand has `on demand` instead of units, and a line for each equation with a body: `equation
// %7 of %1 %6 gives %7`, or `… gives %7 by`, the lines of the body, from its core, and `end`. The core determines which
// equations have a body; the reader compares the lines with it.
//
// A product over a segment: `array 1 := (4, 3, 1) array 0 (3, 1) times %5 (1, 1) of %7`, or `cell 1 := … onto cell 0`,
// with m, inner and n, the strides of rows and columns, and the value that is computed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lowering/steps/steps.h"
#include "semantics/values/text_lines.h"

namespace rml {

std::string steps_text(const steps::Program&);
// Returns nothing, and the first fault, if the text does not describe steps. Every id in the result is valid, and
// copied, stored and loaded values have the type of their place.
std::optional<steps::Program> read_steps(std::string_view text, TextFault&);

}  // namespace rml
