// Matches the outputs of this run with the recorded outputs by path and ports. Each output then
// continues after the recorded number of bytes. With --load, an output that the state does not
// record must be a new file, because it may hold the only copy of its rows.
#include "runtime/run/resume.h"

#include <algorithm>
#include <cstdio>

#include "runtime/base/failure.h"
#include "runtime/base/readable.h"
#include "runtime/checkpoint/whole_file.h"
#include "runtime/stream_io/endpoints/old_rows.h"
#include "runtime/stream_io/endpoints/open_endpoints.h"

namespace rml::rt {

namespace {

std::vector<std::string> names(const Row& row, const std::vector<std::uint32_t>& ports) {
  std::vector<std::string> found;
  for (const std::uint32_t i : ports) found.emplace_back(row.port(i).name);
  return found;
}

// "label 3f2a91c0": for each port that is written as a class name, its name and the checksum of
// its list of classes.
std::string classes_of(const Endpoint& output, const Row& row) {
  std::string text;
  for (const std::uint32_t i : output.ports) {
    const ClassList* const list = output.texts == nullptr ? nullptr : output.texts->of_output(i);
    if (list == nullptr) continue;
    std::uint32_t sum = 0;
    for (const std::string& name : list->names()) sum = checksum(sum, name + "\n");
    text += (text.empty() ? "" : ", ") + std::string(row.port(i).name) + " " + std::to_string(sum);
  }
  return text;
}

}  // namespace

SavedRun::SavedRun(const Options& options) : resumed(!options.resume.empty() && file_exists(options.resume)) {
  path = resumed ? options.resume : options.load;
  begins = !options.load.empty() && options.load == options.save && options.among == nullptr && !file_exists(path);
  if (path.empty() || begins) return;
  state.emplace(path, read_whole_file(path));
  if (options.key.empty()) state->refuse_keys();
  if (options.seed && *options.seed != state->seed())
    throw Failure("--seed " + std::to_string(*options.seed) + ": '" + path + "' was saved by a run with seed " +
                  std::to_string(state->seed()));
}

namespace {

const OutputRecord* record_of(const Endpoint& output, const Row& row, const RunRecord& saved) {
  const std::string recorded = recorded_path(output.path);
  const auto ports = names(row, output.ports);
  const auto known = std::ranges::find_if(
      saved.outputs, [&](const OutputRecord& o) { return o.path == recorded && o.ports == ports; });
  return known == saved.outputs.end() ? nullptr : &*known;
}

void require_same_classes(const Endpoint& output, const Row& row, const OutputRecord& known, const std::string& state) {
  if (known.classes && *known.classes != classes_of(output, row))
    throw Failure("'" + output.path + "' has other class lists than in the run that saved '" + state +
                  "': give the same --classes");
}

// The place at which a run with --resume continues an output.
Settled resumed_place(const Endpoint& output, const Row& row, const SavedRun& before, std::uint64_t rows) {
  const OutputRecord* const known = record_of(output, row, before.state->run());
  if (known == nullptr)
    throw Failure("'" + output.path + "' was not an output of the run that saved '" + before.path + "'");
  require_same_classes(output, row, *known, before.path);
  return {known->bytes, rows};
}

// The place at which a run with --load continues an output; none for a new file, and for one that
// --overwrite replaces.
std::optional<Settled> loaded_place(const Endpoint& output, const Row& row, const SavedRun& before, bool overwrite) {
  if (!holds_bytes(output)) return std::nullopt;
  const OutputRecord* const known = before.state ? record_of(output, row, before.state->run()) : nullptr;
  if (known == nullptr && overwrite) return std::nullopt;
  if (known == nullptr)
    throw Failure("'" + output.path + "' is not empty, and " +
                  (before.state ? "the state '" + before.path + "' does not say where to continue it"
                                : "there is no state '" + before.path + "' that says where to continue it") +
                  ": give another file, --append to write after its rows, or --overwrite to replace it");
  require_same_classes(output, row, *known, before.path);
  require_rows(output, row, known->bytes);
  return Settled{known->bytes, 0};
}

std::vector<std::optional<Settled>> places_of_outputs(const Row& row, const std::vector<Endpoint>& outputs,
                                                      const SavedRun& before, std::uint64_t rows, bool overwrite) {
  std::vector<std::optional<Settled>> places;
  for (const Endpoint& output : outputs) {
    if (before.resumed)
      places.emplace_back(resumed_place(output, row, before, rows));
    else if (!before.path.empty() && !output.append)
      places.push_back(loaded_place(output, row, before, overwrite));
    else
      places.emplace_back();
  }
  if (before.resumed && before.state->run().outputs.size() > outputs.size())
    throw Failure("'" + before.path + "' was saved by a run with " +
                  std::to_string(before.state->run().outputs.size()) + " outputs; give them all");
  return places;
}

// Records that each output begins.
void record_new_outputs(const Row& row, const std::vector<Endpoint>& outputs, RunRecord& record) {
  record.outputs.clear();
  for (const Endpoint& output : outputs)
    if (is_regular(output) && is_written_by_row(output))
      record.outputs.push_back({recorded_path(output.path), names(row, output.ports), 0, classes_of(output, row)});
}

}  // namespace

void begin_outputs(WriteBehind& sinks, const std::vector<Endpoint>& outputs, const SavedRun& before, std::uint64_t rows,
                   const Options& options, RunRecord& record, const std::function<void()>& save) {
  const auto places = places_of_outputs(sinks.row(), outputs, before, rows, options.overwrite);
  if (before.begins) {
    const std::string note = "--load: '" + before.path + "' does not exist, so the run begins at the beginning";
    if (!options.quiet) std::fprintf(stderr, "%s\n", readable_message(note).c_str());
    record_new_outputs(sinks.row(), outputs, record);
    save();
  }
  for (std::size_t k = 0; k < outputs.size(); ++k)
    sinks.add(open_sink(outputs[k], sinks.row(), places[k]), outputs[k].ports);
}

void begin_bad_rows(BadRows& bad_rows, const Options& options, bool resumed, std::int64_t rows) {
  using Beginning = BadRows::Beginning;
  if (resumed)
    bad_rows.begin(Beginning::again, rows);
  else
    bad_rows.begin(options.load.empty() ? Beginning::anew : Beginning::append);
}

void record_outputs(WriteBehind& sinks, const std::vector<Endpoint>& outputs, RunRecord& record) {
  record.outputs.clear();
  sinks.catch_up();
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (const auto bytes = sinks.sinks()[k]->settle())
      record.outputs.push_back({recorded_path(outputs[k].path), names(sinks.row(), outputs[k].ports), *bytes,
                                classes_of(outputs[k], sinks.row())});
}

}  // namespace rml::rt
