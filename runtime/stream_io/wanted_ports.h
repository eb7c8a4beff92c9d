// What a text reader looks for: the elements of the ports it fills, by name.
//
// Shared by formats whose input names its columns: maps names to elements, and words what is
// missing, with a guess among the names that were there but meant nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/stream_io/row.h"

namespace rml::rt {

struct Element {
  std::uint32_t port = 0;
  std::uint64_t index = 0;
};

// "x", "x[0]", "x[1,2]" of every wanted port.
std::unordered_map<std::string, Element> elements_by_name(const Row& row, const std::vector<std::uint32_t>& wanted);

// "'x' (f32[3], columns x[0] to x[2])".
std::string expected_columns(const rml_port& port);

// "row 4 …" needs characters, not bytes: the number of code points.
std::size_t characters(std::string_view text);

std::string_view trimmed(std::string_view text);

}  // namespace rml::rt
