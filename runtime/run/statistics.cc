// Prints one line per figure, in a fixed order.
#include "runtime/run/statistics.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "runtime/base/memory.h"

namespace rml::rt {

void print_statistics(const rml_program& program, const rml_header& header, const Statistics& run) {
  std::fprintf(stderr,
               "cycles           %" PRId64
               "\n"
               "rows             %" PRId64
               "\n"
               "time             %.3f s\n"
               "speed            %.0f cycles/s\n"
               "peak memory      %.1f MiB\n"
               "state            %" PRIu64 " bytes\n",
               header.pushed, header.popped, run.seconds,
               run.seconds > 0 ? static_cast<double>(run.cycles) / run.seconds : 0.0,
               static_cast<double>(peak_resident_bytes()) / (1024.0 * 1024.0), program.state_bytes);
  // Without segments, the longest "segment" is the number of cycles that a program on demand
  // keeps.
  if (header.segments == 0 && header.longest_segment > 0)
    std::fprintf(stderr, "window           %" PRId64 " cycles at most\n", header.longest_segment);
  else
    std::fprintf(stderr, "segments         %" PRId64 "\nlongest segment  %" PRId64 " cycles\n", header.segments,
                 header.longest_segment);
  std::fprintf(stderr, "buffers          %" PRId64 " bytes at most\n",
               std::max(run.peak_buffer_bytes, header.buffer_bytes));
}

}  // namespace rml::rt
