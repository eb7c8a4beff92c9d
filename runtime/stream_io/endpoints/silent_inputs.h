// Checks `?timeout` and `?silent` of the inputs, before any input is opened.
#pragma once

#include <optional>
#include <vector>

#include "runtime/stream_io/endpoints/endpoint.h"

namespace rml::rt {

// Finds the inputs that addresses name with ?silent. They become inputs of these addresses, and `named` is set for
// them. Throws Failure with status 2 if there is no such input, if another argument provides it, or for a file.
void assign_silent_inputs(std::vector<Endpoint>& inputs, std::vector<bool>& named, const Row& row);

// Refuses an input that would have no value in a cycle without a row, inputs that are not waited for, and combinations
// with timers that have no meaning. Call it when ports and formats are known.
void check_silent_inputs(const std::vector<Endpoint>& inputs, const Row& row);

// True if rows of an input may be absent.
bool any_silent(const std::vector<Endpoint>& inputs);
// Throws Failure with status 2 if rows of an input may be absent, which `option` does not allow.
void refuse_silent(const std::vector<Endpoint>& inputs, const std::string& option, const std::string& why);

}  // namespace rml::rt
