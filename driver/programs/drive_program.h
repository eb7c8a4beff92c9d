// Runs a program over a chronogram of inputs, cycle by cycle, like a host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "semantics/reference/chronogram.h"

namespace rml {

struct DriveOptions {
  std::int64_t cycles = 0;
  std::uint64_t seed = 0;
  std::int64_t horizon = 0;
  bool restarts = false;  // after cycles, the state is saved, destroyed, and loaded into a new instance
  // After every so many cycles; for networks after each of the first cycles, then less often.
  std::int64_t restart_every = 1;
  // For networks: number of workers.
  unsigned workers = 0;
  std::uint64_t capacity = 0;
};

struct Driven {
  Chronogram outputs;  // one cell per cycle that was read; undetermined for rows that never came out
  Chronogram leads;    // the values that were known before the inputs of their cycle; otherwise undetermined
  std::vector<std::int64_t> written;  // number of rows that had come out when each cycle was read; not for networks
  std::string stop;                   // the text and place of the fault that ended the run early; empty: none
  std::int64_t stop_cycle = 0;
};

std::vector<ChronogramPort> ports(const rml_port* ports, std::uint32_t count);

// `inputs` has a row per input in port order, each with options.cycles cells.
Driven drive(const rml_program& program, const Chronogram& inputs, const DriveOptions& options);

}  // namespace rml
