// Finds the known name that is nearest to an unknown one, for messages "did you mean".
//
// Uses the optimal string alignment distance (insert, delete, replace, swap neighbours), and
// ignores upper and lower case. A name is near if its distance is at most a third of the longer
// name, and at least 1 is allowed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rml::rt {

// Empty if no name is near.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

// "; did you mean 'batch_end'?", or empty.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace rml::rt
