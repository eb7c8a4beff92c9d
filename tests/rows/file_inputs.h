// Draws inputs for programs in files, of any type and on any clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "semantics/core/core.h"
#include "semantics/reference/chronogram.h"

namespace rml::fuzz {

// Draws small numbers; each input is present at the ticks of its clock. Returns nothing if a
// clock depends on a value that the inputs do not determine in time.
std::optional<Chronogram> draw_file_inputs(const Core&, std::uint64_t seed, std::int64_t cycles);

// Returns the node in the first line `-- run: NODE` of the file, or an empty text.
std::string entry_of(const std::string& file);

}  // namespace rml::fuzz
