// Inputs for a check of gradients: random ones, or those of a file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/checks/gradient_programs.h"

namespace rml {

// Random inputs that keep to their clocks: floats in [-1.25, 1.25], integers 0 or 1, Booleans that are
// true at the last cycle, so that segments end. Nothing, and why, where f stops on them.
std::optional<Chronogram> random_gradient_inputs(const GradientPrograms&, std::int64_t cycles, std::uint64_t seed,
                                                 std::string& error);

// Rows of files, given as to a program (`FILE`, `NAME=FILE`), at most `cycles` if that is not negative.
std::optional<Chronogram> read_gradient_inputs(const GradientPrograms&, const std::vector<std::string>& files,
                                               std::int64_t cycles, std::string& error);

// Makes cells of the program's inputs present or absent until all keep to their clocks. `cell` yields the
// new one, or nothing where this must not be. False, and why, if the program stops, or where nothing was
// yielded.
using NewCell = std::function<std::optional<Cell>(std::size_t input, std::size_t cycle, bool present)>;
bool keep_to_clocks(const GradientProgram&, Chronogram& inputs, std::uint64_t seed, const NewCell& cell,
                    std::string& error);

}  // namespace rml
