// A run that goes on with another one finds the rows again that this one has read.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/stream_io/row.h"
#include "runtime/stream_io/row_source.h"

namespace rml::rt {

// Reads `rows` rows, each into `row`. Throws Failure if there are fewer, or others than those with this checksum,
// after which the state was saved to the file `path`.
void skip_rows(RowSource& source, const Row& row, std::uint32_t ports, std::int64_t rows, std::uint32_t checksum,
               const std::string& path);

}  // namespace rml::rt
