// Statistics are one line per figure, in a fixed order.
#include "runtime/run/statistics.h"

#include <algorithm>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <string>

#include "runtime/base/failure.h"
#include "runtime/base/faults.h"
#include "runtime/base/memory.h"
#include "runtime/base/readable.h"
#include "runtime/base/signals.h"

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

void print_missed_ticks(const Options& options, std::int64_t ticks) {
  if (ticks < 0 || !options.writes) return;
  if (options.stats) std::fprintf(stderr, "missed ticks     %" PRId64 "\n", ticks);
  if (ticks == 0 || options.quiet) return;
  std::fprintf(stderr, "%" PRId64 " ticks of the timer were missed: cycles took longer than its period\n", ticks);
}

void print_notes(const std::vector<std::string>& lines, bool quiet) {
  for (const std::string& line : lines)
    if (!quiet) std::fprintf(stderr, "%s\n", readable_message(line).c_str());
}

bool tell_window(const rml_program& program, void* state, bool quiet) {
  constexpr std::int64_t many_rows = 1'000'000, many_bytes = std::int64_t{256} << 20;
  const rml_header& header = *static_cast<const rml_header*>(state);
  if (header.pushed - header.popped <= many_rows && header.buffer_bytes <= many_bytes) return false;
  if (!quiet && program.finish(state) == RML_OK)
    std::fprintf(stderr, "%s\n", readable_message(window_text(program, header)).c_str());
  return true;
}

int tell_end(const rml_program& program, const rml_header& header, std::int64_t undetermined, bool quiet) {
  const int signal = interrupt_signal();
  if (signal != 0 && signal != SIGPIPE && !quiet)
    std::fprintf(stderr, "interrupted after %" PRId64 " cycles\n", header.pushed);
  if (undetermined > 0 && !quiet) std::fprintf(stderr, "%s\n", undetermined_text(program, header).c_str());
  return signal == 0 ? static_cast<int>(exit_ok) : 128 + signal;
}

std::vector<Profile::Beside> sums_of_ranks(const Ranks* ranks) {
  std::vector<Profile::Beside> all;
  if (ranks != nullptr)
    for (const Ranks::Span& s : ranks->spans())
      all.push_back(
          {"sum " + std::to_string(s.site + 1) + " over ranks, " + std::to_string(s.bytes) + " bytes", s.begin, s.end});
  return all;
}

void print_bad_rows(const Options& options, const BadRows& rows) {
  if (!options.reading.skip_bad_rows || !options.writes) return;
  if (options.stats) std::fprintf(stderr, "bad rows         %" PRId64 "\n", rows.count());
  const std::string summary = rows.summary();
  if (!options.quiet && !summary.empty()) std::fprintf(stderr, "%s\n", readable_message(summary).c_str());
}

}  // namespace rml::rt
