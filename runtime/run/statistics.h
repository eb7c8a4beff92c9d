// --stats: what a run tells of itself when it is over.
#pragma once

#include <cstdint>

#include "runtime/base/rmlrt.h"

namespace rml::rt {

struct Statistics {
  double seconds = 0;
  std::int64_t cycles = 0;             // of this process
  std::int64_t peak_buffer_bytes = 0;  // as far as it was seen
};

void print_statistics(const rml_program& program, const rml_header& header, const Statistics& run);

}  // namespace rml::rt
