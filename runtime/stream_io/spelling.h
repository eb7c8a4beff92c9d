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

// The known name that resembles `name` most; empty if none is similar.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

// A hint such as "; did you mean 'batch_end'?", or an empty text.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace rml::rt
