// The whole of a core as text, and what other forms need to speak of it.
//
// print_core (core.h) is what `rmlc show core` has to say. The whole text has what that leaves out as well, behind a
// line `form core 1`: which instances are derivatives, and how many outputs are watched. read_core takes either.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "semantics/core/core.h"
#include "semantics/values/text_lines.h"

namespace rml {

std::string core_text(const Core&);
// What is read has been verified.
std::optional<Core> read_core(std::string_view text, TextFault&);

// Within other forms: the lines of a core, the last of them `end`.
std::string inner_core_text(const Core&);
// Reads them from the line after the current one, and verifies them. Nothing if `lines` has a fault.
std::optional<Core> read_inner_core(TextLines& lines);

// "%5", "%?"; "c2", "base"; a word, or anything in quotation marks; " @1:2-3", or nothing.
std::string id_text(ValueId);
std::string id_text(ClockId);
std::string name_text(const std::string&);
std::string quoted_text(const std::string&);
std::string span_text(Span);
std::string constant_text(const Tensor&);
// "add %1 %2"; of a constant with many elements its type alone.
std::string equation_text(const Core&, ValueId);

ValueId read_value_id(TextLines&);
ClockId read_clock_id(TextLines&);
std::pair<DType, Shape> read_type(TextLines&);
Span read_span(TextLines&);
// How many bytes the constants of a form may fill that is shorter than they are: `all 0`.
inline constexpr std::size_t most_uniform_bytes = std::size_t{1} << 30;
Tensor read_constant(TextLines&, DType, const Shape&, std::size_t& uniform_bytes);

// The first invariant that is broken, and by which value (invalid: by none).
struct CoreViolation {
  std::string message;
  ValueId value;
};
CoreViolation find_violation(const Core&);

}  // namespace rml
