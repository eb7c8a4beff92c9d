// Reads Parquet and Arrow files as CSV.
//
// Problem: both formats have libraries in C++ and Python, and none with an interface in C that systems ship. Method: a
// child process, python3 with PyArrow, runs table_rows.py, which converts some thousand rows at a time and writes them
// to a pipe. So all options for CSV apply, and neither process holds the whole table. The child ends with the source.
// An error of the child ends the input as a Failure with its message, also after rows.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/stream_io/bytes/byte_source.h"

namespace rml::rt {

// The program that the child runs.
extern const char* const table_rows_script;

// True for .parquet, .arrow and .feather.
bool is_table_file(const std::string& path);

// A column that is read, with the shape of its values.
using TableColumn = std::pair<std::string, std::vector<std::uint64_t>>;

// Throws Failure if the file or python3 cannot be opened.
ByteSource open_table(const std::string& path, const std::vector<TableColumn>& columns, Waiting waiting);

}  // namespace rml::rt
