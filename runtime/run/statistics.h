// Prints the statistics that --stats requests at the end of a run.
#pragma once

#include <cstdint>

#include "runtime/base/rmlrt.h"

namespace rml::rt {

struct Statistics {
  double seconds = 0;
  std::int64_t cycles = 0;             // number of cycles that this process computed
  std::int64_t peak_buffer_bytes = 0;  // highest value seen, in bytes
};

void print_statistics(const rml_program& program, const rml_header& header, const Statistics& run);

}  // namespace rml::rt
