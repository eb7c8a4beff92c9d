// Drawn inputs of programs that are in files: of any type, on any clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "semantics/core/core.h"
#include "semantics/reference/chronogram.h"

namespace rml::fuzz {

// Small numbers, each input present where its clock is. Nothing where a clock depends on what no input tells in time.
std::optional<Chronogram> draw_file_inputs(const Core&, std::uint64_t seed, std::int64_t cycles);

// The node that the file's first `-- run: NODE` names, or none.
std::string entry_of(const std::string& file);

}  // namespace rml::fuzz
