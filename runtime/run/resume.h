// Reads the state that a run continues from, and records where its outputs end, so that a later
// run can continue.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/options/options.h"
#include "runtime/pipeline/write_behind.h"
#include "runtime/stream_io/endpoints.h"

namespace rml::rt {

struct SavedRun {
  // A file of --resume may be missing; this run will then create it. Throws Failure if --seed
  // differs from the seed of the state.
  explicit SavedRun(const Options& options);

  std::string path;  // from --resume or --load; empty: the run starts without a state
  std::optional<CheckpointIn> state;
  bool resumed = false;  // the run also continues the inputs and outputs of the saved run
};

// Opens all outputs. If there is a saved record, each output is opened where the run that wrote
// the file `path` left it, after `rows` rows. Throws Failure if these are not the outputs of that
// run.
void open_outputs(WriteBehind& sinks, const std::vector<Endpoint>& outputs, const RunRecord* saved, std::uint64_t rows,
                  const std::string& path);

// Records the length of each output, after all rows were written out.
void record_outputs(WriteBehind& sinks, const std::vector<Endpoint>& outputs, RunRecord& record);

}  // namespace rml::rt
