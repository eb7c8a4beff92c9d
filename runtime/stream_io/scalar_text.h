// Scalars as text, the same for every text format.
//
// Reading: integers are range-checked and may end with `.0`, floats correctly rounded (nan, inf and infinity in any
// case), Booleans are true/false in any case, T/F or 1/0. Writing: floats print the shortest
// text that reads back to the same value, NaN always as "nan". Nothing depends on the locale.
// f16 is rounded through f64, which differs from direct rounding only for decimals within
// 2^-53 (relative) of a tie.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rml::rt {

enum class Parsed { ok, malformed, out_of_range };

// Reads the longest scalar of the dtype at the beginning of [at, end), stores it at `to` and
// moves `at` behind it. On failure `at` stays.
Parsed parse_scalar(std::uint8_t dtype, const char*& at, const char* end, void* to);
// The whole text is one scalar.
Parsed parse_whole_scalar(std::uint8_t dtype, std::string_view text, void* to);

inline constexpr std::size_t longest_scalar = 32;
enum class BoolText { word, letter };  // true/false, T/F
// Writes the scalar at `to`, at most longest_scalar bytes; returns the end.
char* format_scalar(std::uint8_t dtype, const void* value, char* to, BoolText bools);

// "'abc' is not an f32", "'300' does not fit in a u8 (0 to 255)".
std::string parse_complaint(std::uint8_t dtype, Parsed result, std::string_view text);

}  // namespace rml::rt
