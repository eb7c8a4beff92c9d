// The rows that an output file already has, for a run that continues the file.
//
// A run that was killed may have left half a row at the end of its file. Appending after it would
// join two rows, so the half row is cut off. A file with other columns, or with bytes that are
// not rows of this output, is refused before it is changed.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/stream_io/endpoints/endpoint.h"
#include "runtime/stream_io/row_sink.h"

namespace rml::rt {

// True if the output is a file that exists and is not empty. Pipes, devices, peers and standard
// output hold no rows that could be lost.
bool holds_bytes(const Endpoint& output);

// True if the format is written row by row, so that a file can be continued after any row.
bool is_written_by_row(const Endpoint& output);
// True if the output is, or will be, a regular file.
bool is_regular(const Endpoint& output);

// Where the last whole row of the file ends; 0 bytes if it has no header yet. Throws Failure if
// the file has other columns, or if rows cannot be appended to it.
Settled whole_rows(const Endpoint& output, const Row& row);

// Throws Failure if the file does not begin with the header that this run would write, or if no
// row ends after `bytes` bytes.
void require_rows(const Endpoint& output, const Row& row, std::uint64_t bytes);

// The number of rows of an .npy file that is `bytes` long; `otherwise` if its rows have no bytes.
std::uint64_t rows_of_npy(const rml_port& port, std::uint64_t bytes, std::uint64_t otherwise);

// Throws Failure for an output that a later run could not continue.
void require_continuable(const std::vector<Endpoint>& outputs);
// all: marks all files for appending. Throws Failure for a marked output whose rows must be
// written together, or if there is no file.
void append_to_files(std::vector<Endpoint>& outputs, bool all);

}  // namespace rml::rt
