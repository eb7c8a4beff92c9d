// Runs a program over a chronogram of inputs, cycle by cycle, as a host would.
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
  bool restarts = false;           // after every cycle the state is saved, destroyed, and loaded into a new one
  std::int64_t restart_every = 1;  // … after every so many; of networks after each of the first, then now and then
  // Networks.
  unsigned workers = 0;
  std::uint64_t capacity = 0;
};

struct Driven {
  Chronogram outputs;                 // one cell per cycle read; rows that never came out are undetermined
  Chronogram leads;                   // what was known of each before its inputs were; else undetermined
  std::vector<std::int64_t> written;  // how many rows had come out when each cycle was read; not of networks
  std::string stop;                   // why the run stopped early: the text of the fault, its place; empty: it did not
  std::int64_t stop_cycle = 0;
};

std::vector<ChronogramPort> ports(const rml_port* ports, std::uint32_t count);

// `inputs` has a row per input in port order, each of options.cycles cells.
Driven drive(const rml_program& program, const Chronogram& inputs, const DriveOptions& options);

}  // namespace rml
