// Converts scalars to text and back, in the same way for all text formats and independent of the
// locale.
//
// Reading: integers are range-checked and may end with `.0`; floats are correctly rounded and may
// be nan, inf or infinity in upper or lower case; Booleans are true/false in upper or lower case,
// T/F or 1/0. Writing: floats print the shortest text that reads back to the same value, and
// every NaN prints as "nan".
//
// f16 is rounded through f64. This differs from direct rounding only for decimals within 2^-53
// (relative) of a tie.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rml::rt {

enum class Parsed { ok, malformed, out_of_range };

// Reads the longest scalar of the dtype at the beginning of [at, end), stores it at `to` and sets
// `at` to its end. On failure `at` does not change.
Parsed parse_scalar(std::uint8_t dtype, const char*& at, const char* end, void* to);
// Requires that the whole text is one scalar.
Parsed parse_whole_scalar(std::uint8_t dtype, std::string_view text, void* to);

inline constexpr std::size_t longest_scalar = 32;
enum class BoolText { word, letter };  // how Booleans are written: true and false, or T and F
// Writes the scalar to `to`, at most longest_scalar bytes; returns the end.
char* format_scalar(std::uint8_t dtype, const void* value, char* to, BoolText bools);
std::string double_text(double value);

// The error message, such as "'abc' is not an f32" or "'300' does not fit in a u8 (0 to 255)".
std::string parse_complaint(std::uint8_t dtype, Parsed result, std::string_view text);

}  // namespace rml::rt
