// Prints notes about a run: the statistics that --stats requests, and why a run ended early or keeps
// many rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "runtime/monitor/profile.h"
#include "runtime/options/options.h"
#include "runtime/ranks/ranks.h"
#include "runtime/stream_io/bad_rows.h"

namespace rml::rt {

struct Statistics {
  double seconds = 0;
  std::int64_t cycles = 0;             // number of cycles that this process computed
  std::int64_t peak_buffer_bytes = 0;  // highest value seen, in bytes
};

void print_statistics(const rml_program& program, const rml_header& header, const Statistics& run);
// The number of bad rows for --stats, and the line that says at the end of a run that rows were skipped.
void print_bad_rows(const Options& options, const BadRows& rows);
// The number of missed ticks, negative without a timer, for --stats and as a note at the end.
void print_missed_ticks(const Options& options, std::int64_t ticks);

// Notes on stderr, one in a line.
void print_notes(const std::vector<std::string>& lines, bool quiet);

// Warns that a program which runs without end keeps many of the rows that it has read. True if it
// does.
bool tell_window(const rml_program& program, void* state, bool quiet);

// Says that the run was interrupted, and why rows are missing. undetermined: their number. Returns
// the exit status.
int tell_end(const rml_program& program, const rml_header& header, std::int64_t undetermined, bool quiet);

// The sums over ranks, for a profile. ranks: null if the program runs alone.
std::vector<Profile::Beside> sums_of_ranks(const Ranks* ranks);

}  // namespace rml::rt
