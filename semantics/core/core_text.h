// The complete text of a core, and the pieces that the texts of other forms share.
//
// print_core (core.h) writes the part that `rmlc show core` prints. The complete text begins with
// a line `form core 1` and adds the rest: which instances are derivatives or nodes of the library
// `steps`, how rows are dealt, and how many outputs are watched. read_core reads both.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "semantics/core/core.h"
#include "semantics/values/text_lines.h"

namespace rml {

std::string core_text(const Core&);
// Reads a core from its text. The result has passed verify_core.
std::optional<Core> read_core(std::string_view text, TextFault&);

// The text of a core within another form: its lines, and `end` as the last line.
std::string inner_core_text(const Core&);
// Reads the text of inner_core_text, from the line after the current one, and verifies the core. Returns nothing if
// `lines` has a fault.
std::optional<Core> read_inner_core(TextLines& lines);

// Small pieces of text: "%5" or "%?"; "c2" or "base"; a word, or any text in quotation marks; "
// @1:2-3", or nothing.
std::string id_text(ValueId);
std::string id_text(ClockId);
std::string name_text(const std::string&);
std::string quoted_text(const std::string&);
std::string span_text(Span);
std::string constant_text(const Tensor&);
// A right-hand side such as "add %1 %2". For a constant with many elements, its type only.
std::string equation_text(const Core&, ValueId);

ValueId read_value_id(TextLines&);
ClockId read_clock_id(TextLines&);
std::pair<DType, Shape> read_type(TextLines&);
Span read_span(TextLines&);
// Limit on the bytes of constants written in short as `all 0`, summed over a form, so that a
// short text cannot demand much memory.
inline constexpr std::size_t most_uniform_bytes = std::size_t{1} << 30;
Tensor read_constant(TextLines&, DType, const Shape&, std::size_t& uniform_bytes);

// The first invariant that is violated, and the value that violates it (invalid if it is no
// value).
struct CoreViolation {
  std::string message;
  ValueId value;
};
CoreViolation find_violation(const Core&);

}  // namespace rml
