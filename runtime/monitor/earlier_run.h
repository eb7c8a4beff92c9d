// Reads the curves of an earlier run from the file of its rows (--plot-also).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/monitor/series.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {

// The values of these outputs in the file. Its first row counts as cycle 0. format: of a file whose
// suffix names none. Throws Failure if the file lacks one of the outputs.
std::vector<Series> earlier_run(const std::string& path, const Row& outputs, const std::vector<std::uint32_t>& plotted,
                                const std::string& format);

}  // namespace rml::rt
