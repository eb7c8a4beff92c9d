// "Did you mean": the known name nearest to one that is not known.
//
// Optimal string alignment distance (insert, delete, replace, swap neighbours), letters
// compared without case; near is at most a third of the longer name, and at least 1.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rml::rt {

// Empty if none is near.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

// "; did you mean 'batch_end'?" or nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace rml::rt
