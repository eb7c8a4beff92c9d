// What a run takes over from another one that it goes on with, and what it leaves to the next.
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
  // A file of --resume that is not there is one that this run will make. Throws Failure if --seed is another than that
  // of the state.
  explicit SavedRun(const Options& options);

  std::string path;  // of --resume or --load; empty: the run begins with nothing
  std::optional<CheckpointIn> state;
  bool resumed = false;  // its inputs and outputs are gone on with as well
};

// Opens all outputs; where there is a record, each where the run that saved it to the file `path` left it, behind
// `rows` rows. Throws Failure if these are not the outputs of that run.
void open_outputs(WriteBehind& sinks, const std::vector<Endpoint>& outputs, const RunRecord* saved, std::uint64_t rows,
                  const std::string& path);

// Notes where the outputs stand, once all that was written is there.
void record_outputs(WriteBehind& sinks, const std::vector<Endpoint>& outputs, RunRecord& record);

}  // namespace rml::rt
