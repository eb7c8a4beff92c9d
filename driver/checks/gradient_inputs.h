// Makes inputs for a gradient check: random ones, or those of a file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/checks/gradient_programs.h"

namespace rml {

// Random inputs that respect their clocks: floats in [-1.25, 1.25], integers 0 or 1, and Booleans, which are true at
// the last cycle so that segments end. Returns nothing, and the reason, if f stops on them.
std::optional<Chronogram> random_gradient_inputs(const GradientPrograms&, std::int64_t cycles, std::uint64_t seed,
                                                 std::string& error);

// Reads rows from files, given as to a program (`FILE`, `NAME=FILE`); at most `cycles` if that is not negative.
std::optional<Chronogram> read_gradient_inputs(const GradientPrograms&, const std::vector<std::string>& files,
                                               std::int64_t cycles, std::string& error);

// Makes cells of the program's inputs present or absent until all respect their clocks. `cell` returns the new cell, or
// nothing if the change is not allowed. Returns false, and the reason, if the program stops or `cell` returned nothing.
using NewCell = std::function<std::optional<Cell>(std::size_t input, std::size_t cycle, bool present)>;
bool keep_to_clocks(const GradientProgram&, Chronogram& inputs, std::uint64_t seed, const NewCell& cell,
                    std::string& error);

}  // namespace rml
