// Skips the rows that an earlier run has read, when a run resumes it.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/stream_io/row.h"
#include "runtime/stream_io/row_source.h"

namespace rml::rt {

// Reads `rows` rows, each into `row`. Throws Failure if there are fewer, or if their checksum
// differs from the given one; the message names `path`, the file of the state.
void skip_rows(RowSource& source, const Row& row, std::uint32_t ports, std::int64_t rows, std::uint32_t checksum,
               const std::string& path);

}  // namespace rml::rt
