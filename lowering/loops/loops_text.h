// The complete text of loops, as `rmlc opt` reads and writes it. (`rmlc show loops` prints the part after the steps.)
//
//   form loops 1
//   core main …                                    the lines of the steps, as steps_text.h has them
//   loops
//   body 0 of %7                                   the iteration that is this call; `0:%3` is a value of body 0
//   buffer %5 f32[2, 3]                            constant or value; also `initial 0`, the initial elements of cell 0
//   buffer cell 0 f32[3]                           also `array 0`, `input 0`, `output 0`
//   buffer scratch 0 f32[3] in 0                   scratch that belongs to body 0
//   unit 0
//     operands %1 %2                               where the unit's operands are put
//     instant
//       %6 := cell 0                               a copy
//       nest i:2 j:3 sum k:4 of %5 = matmul %3 %4
//         t0 = load %3[4*i + k]
//         t1 = load %4[3*k + j]
//         t2 = mul f32 t0 t1
//         sum %5[3*i + j] add f32 t2
//       end
//       kernel rml_sort %9 := %8 of %9
//       call 0 %11 := %9 of %10                    external 0, of the user
//       rounds 0 of %7 length 5 reverse            of body 0
//         take %4 scratch 0                        an element of the sequence %4
//         stack %8 scratch 1                       into the sequence %8
//         begin
//           …
//         end
//       end
//       if not %6 … else … end, if first …, push queue 0 %5, expect input 0 present, assert %6 site 0,
//       assume not cell 0 site 1, last := not %6   as in steps
//     end
//     sweep backward, prologue … end, loop … end, before … end, commit … end
//   rows %5                                        where the operands of the rows are put
//
// Elements of a nest are numbered; elements without a result are counted as well:
//
//   number f32 0.5     index j     load %3[2 + 4*i - k + 3*t1]     select f32 t0 t1 t2     convert i32 f64 t0
//   library tanh f32 t0     isnan f32 t0     store %5[i] t3     sum %5 mul f32 t3     check t4 fault 1 site 0 value t1
//   bound t2
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lowering/loops/loops.h"
#include "semantics/values/text_lines.h"

namespace rml::loops {

std::string loops_text(const Program&);
// Returns nothing, and the first fault, if the text does not describe loops. The result has been verified.
std::optional<Program> read_loops(std::string_view text, TextFault&);

// The name of an axis in the text.
std::string axis_name(std::size_t);

}  // namespace rml::loops
