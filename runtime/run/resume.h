// Reads the state that a run continues from, and records where its outputs end, so that a later
// run can continue.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/options/options.h"
#include "runtime/pipeline/write_behind.h"
#include "runtime/stream_io/bad_rows.h"
#include "runtime/stream_io/endpoints/endpoint.h"

namespace rml::rt {

struct SavedRun {
  // A file of --resume may be missing; this run will then create it. So may a file that both
  // --load and --save name. Throws Failure if --seed differs from the seed of the state.
  explicit SavedRun(const Options& options);

  std::string path;  // the state's file, from --resume or --load; empty: the run starts without a state
  std::optional<CheckpointIn> state;
  bool resumed = false;  // the run also continues the inputs and outputs of the saved run
  bool begins = false;   // --load and --save name one file, which does not exist yet
};

// Begins the file of bad rows: anew, after the rows that it has (--load), or after those of the `rows` rows that are
// read again (--resume).
void begin_bad_rows(BadRows& bad_rows, const Options& options, bool resumed, std::int64_t rows);

// Opens all outputs, each at the place at which this run continues it. rows: the rows that a resumed
// run has written. Throws Failure, before any file is changed, if these are not the outputs of the
// run that saved the state, or if --load would overwrite other rows. If the state does not exist
// yet, `save` first saves one in which the outputs of `record` begin: a run that is killed before
// its next save then starts again from it.
void begin_outputs(WriteBehind& sinks, const std::vector<Endpoint>& outputs, const SavedRun& before, std::uint64_t rows,
                   const Options& options, RunRecord& record, const std::function<void()>& save);

// Records the length of each output, after all rows were written out.
void record_outputs(WriteBehind& sinks, const std::vector<Endpoint>& outputs, RunRecord& record);

}  // namespace rml::rt
