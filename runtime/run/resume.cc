// Matches the outputs of this run with the recorded outputs by path and ports. Each output then
// continues after the recorded number of bytes.
#include "runtime/run/resume.h"

#include <algorithm>

#include "runtime/base/failure.h"
#include "runtime/checkpoint/whole_file.h"

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
  if (path.empty()) return;
  state.emplace(path, read_whole_file(path));
  if (options.key.empty()) state->refuse_keys();
  if (options.seed && *options.seed != state->seed())
    throw Failure("--seed " + std::to_string(*options.seed) + ": '" + path + "' was saved by a run with seed " +
                  std::to_string(state->seed()));
}

void open_outputs(WriteBehind& sinks, const std::vector<Endpoint>& outputs, const RunRecord* saved, std::uint64_t rows,
                  const std::string& path) {
  std::vector<std::optional<Settled>> before(outputs.size());
  for (std::size_t k = 0; k < outputs.size() && saved != nullptr; ++k) {
    const std::string recorded = recorded_path(outputs[k].path);
    const auto ports = names(sinks.row(), outputs[k].ports);
    const auto known = std::ranges::find_if(
        saved->outputs, [&](const OutputRecord& o) { return o.path == recorded && o.ports == ports; });
    if (known == saved->outputs.end())
      throw Failure("'" + outputs[k].path + "' was not an output of the run that saved '" + path + "'");
    if (known->classes && *known->classes != classes_of(outputs[k], sinks.row()))
      throw Failure("'" + outputs[k].path + "' has other class lists than in the run that saved '" + path +
                    "': give the same --classes");
    before[k] = Settled{known->bytes, rows};
  }
  if (saved != nullptr && saved->outputs.size() > outputs.size())
    throw Failure("'" + path + "' was saved by a run with " + std::to_string(saved->outputs.size()) +
                  " outputs; give them all");
  for (std::size_t k = 0; k < outputs.size(); ++k)
    sinks.add(open_sink(outputs[k], sinks.row(), before[k]), outputs[k].ports);
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
