// The checksum is computed while its own field holds zeros, so it covers the header as well.
#include "runtime/checkpoint/checkpoint.h"

#include <zlib.h>

#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/checkpoint/anchor_tensors.h"
#include "runtime/checkpoint/demand_tensors.h"
#include "runtime/checkpoint/format_version.h"
#include "runtime/checkpoint/kept_tensors.h"
#include "runtime/checkpoint/matching.h"
#include "runtime/checkpoint/whole_file.h"

namespace rml::rt {
namespace {

using nlohmann::json;

constexpr const char* format_name = "R(ML)2 state";
constexpr const char* too_old =
    ": it holds queues of one schedule.\n  To convert it, run this program on all inputs again, from the first row, "
    "with "
    "--save; or start with the parameters in it: --load-params";
constexpr std::string_view checksum_key = "\"checksum\":\"";
constexpr std::string_view no_checksum = "00000000";
constexpr std::int64_t most_cycles = std::int64_t{1} << 62;

std::string hexadecimal(std::uint64_t value, int digits) {
  char text[24];
  std::snprintf(text, sizeof text, "%0*llx", digits, static_cast<unsigned long long>(value));
  return text;
}

// A path may contain any bytes, but JSON requires valid text.
std::string as_text(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

constexpr const char* on_demand = "on demand";
const char* runs(const rml_program& program) { return program.demand != nullptr ? on_demand : "by a schedule"; }

Metadata metadata(const rml_program& program, const rml_header& header, const StateTensors& state,
                  const RunRecord& run) {
  Metadata all = metadata_of_run(program, header.seed, header.pushed, header.popped + run.rows_again, run);
  all["segments"] = std::to_string(header.segments);
  all["longest_segment"] = std::to_string(header.longest_segment);
  all["unbegun"] = as_text(state.unbegun);
  all["memories"] = listed(program);
  if (!run.led.empty()) all["led"] = as_text(json(run.led));
  if (run.dealt) {
    all["micro_batches"] = std::to_string(run.dealt->micro_batches);
    all["input_rows"] = std::to_string(run.dealt->rows);
    all["whole_step"] = run.dealt->whole ? "1" : "0";
    all["open_micro_batch"] = run.dealt->open ? "1" : "0";
  }
  if (state.begins >= 0) {
    all["begins"] = std::to_string(state.begins);
    all["open"] = as_text(state.open);
    all["runs"] = runs(program);
  } else {
    all["identity"] = hexadecimal(state_identity(program), 16);
    all["rows_again"] = std::to_string(run.rows_again);
  }
  return all;
}

}  // namespace

bool is_checkpoint(const Safetensors& content) {
  const auto format = content.metadata.find("format");
  return format != content.metadata.end() && format->second == format_name;
}

std::uint32_t checksum(std::uint32_t sum, std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(sum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::uint32_t joined_checksums(std::uint32_t first, std::uint32_t second, std::uint64_t bytes_of_second) {
  return static_cast<std::uint32_t>(crc32_combine(first, second, static_cast<z_off_t>(bytes_of_second)));
}

void seal(std::string& head, std::uint32_t sum) {
  head.replace(head.find(checksum_key) + checksum_key.size(), no_checksum.size(), hexadecimal(sum, 8));
}

std::string listed(const rml_program& program) {
  json memories = json::array();
  for (const NamedMemory& m : named_memories(program))
    memories.push_back({m.instance, m.name, m.is_parameter, m.place, m.within, m.content});
  return as_text(memories);
}

Metadata metadata_of_run(const rml_program& program, std::uint64_t seed, std::int64_t cycles, std::int64_t rows,
                         const RunRecord& run) {
  json outputs = json::array();
  for (const OutputRecord& output : run.outputs)
    outputs.push_back({{"path", output.path},
                       {"ports", output.ports},
                       {"bytes", output.bytes},
                       {"classes", output.classes.value_or("")}});
  return {{"format", format_name},
          {"version", state_format_version},
          {"program", program.name},
          {"source", program.source},
          {"checksum", std::string(no_checksum)},
          {"seed", std::to_string(seed)},
          {"cycle", std::to_string(cycles)},
          {"rows", std::to_string(rows)},
          {"first_cycle", std::to_string(run.first_cycle)},
          {"first_row", std::to_string(run.first_row)},
          {"input_checksum", std::to_string(run.input_checksum)},
          {"outputs", as_text(outputs)}};
}

std::vector<std::string_view> sealed_pieces(std::string& head, std::vector<TensorOut>& tensors,
                                            const Metadata& metadata) {
  head = safetensors_head(tensors, metadata);
  std::uint32_t sum = checksum(0, head);
  std::vector<std::string_view> pieces;
  for (const TensorOut& tensor : tensors) {
    for (const std::string_view piece : tensor.pieces) {
      if (piece.empty()) continue;
      pieces.push_back(piece);
      sum = checksum(sum, piece);
    }
  }
  seal(head, sum);
  pieces.insert(pieces.begin(), head);
  return pieces;
}

// Chooses the form of the state. A program of one unit is always between two cycles; for other
// programs the anchor has a cycle, if it found one. Otherwise the contents of units and queues
// are saved.
StateTensors CheckpointOut::take(const rml_program& program, const void* state, const Anchor* anchor) {
  StateTensors tensors;
  if (program.demand != nullptr) {
    take_on_demand(program, state, tensors);
  } else if (program.flow == nullptr) {
    own_.emplace(program).begin(state);
    take_from(*own_, program, state, tensors);
  } else if (anchor != nullptr && anchor->holds()) {
    take_from(*anchor, program, state, tensors);
  } else {
    tensors = state_tensors(program, state);
  }
  return tensors;
}

CheckpointOut::CheckpointOut(const rml_program& program, const void* state, const RunRecord& run,
                             std::vector<TensorOut> more, const Anchor* anchor)
    : state_(take(program, state, anchor)) {
  for (TensorOut& tensor : more) state_.tensors.push_back(std::move(tensor));
  pieces_ =
      sealed_pieces(head_, state_.tensors, metadata(program, *static_cast<const rml_header*>(state), state_, run));
}

template <class T>
T CheckpointIn::number(const char* key) const {
  const std::string& digits = text(key);
  T value = 0;
  const auto [stop, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code != std::errc() || stop != digits.data() + digits.size() || digits[0] == '-')
    damaged(std::string("'") + key + "' in __metadata__ is '" + digits + "'");
  return value;
}

CheckpointIn CheckpointIn::read_file(const std::string& path) { return CheckpointIn(path, read_whole_file(path)); }

CheckpointIn::CheckpointIn(std::string name, std::string bytes)
    : name_(std::move(name)), bytes_(std::move(bytes)), content_(read_safetensors(name_, bytes_)) {
  if (!is_checkpoint(content_)) {
    throw Failure(name_ +
                  ": a safetensors file, but not the state of a program; to load its tensors, use --load-params");
  }
  const std::string& version = text("version");
  if (version != state_format_version && version != columns_format_version) {
    throw Failure(name_ + ": its format is version " + version + ", this program reads " + state_format_version +
                  " and, of keys, " + columns_format_version + (version == "1" ? too_old : ""));
  }
  check_checksum(name_, bytes_, content_);
  read();
}

CheckpointIn::CheckpointIn(std::string name, Safetensors content)
    : name_(std::move(name)), content_(std::move(content)) {
  read();
}

void CheckpointIn::read() {
  seed_ = number<std::uint64_t>("seed");
  run_.first_cycle = number<std::int64_t>("first_cycle");
  run_.first_row = number<std::int64_t>("first_row");
  run_.input_checksum = number<std::uint32_t>("input_checksum");
  try {
    for (const json& output : json::parse(text("outputs"))) {
      run_.outputs.push_back({output.at("path"), output.at("ports"), output.at("bytes")});
      if (output.contains("classes")) run_.outputs.back().classes = output.at("classes").get<std::string>();
    }
  } catch (const json::exception&) {
    damaged("'outputs' in __metadata__");
  }
  if (content_.metadata.contains("led")) run_.led = names("led");
  if (content_.metadata.contains("micro_batches"))
    run_.dealt = RunRecord::Dealt{
        number<std::uint64_t>("micro_batches"), number<std::int64_t>("input_rows"), number<int>("whole_step") != 0,
        content_.metadata.contains("open_micro_batch") && number<int>("open_micro_batch") != 0};
  unbegun_ = names("unbegun");
  if (has_beginning()) open_ = names("open");
}

void CheckpointIn::rename(const std::function<std::string(std::string)>& to) {
  rename_tensors(content_, name_, to);
  for (std::vector<std::string>* of : {&unbegun_, &open_})
    for (std::string& name : *of) name = to(name);
}

std::vector<std::string> CheckpointIn::all_names() const {
  std::vector<std::string> all = unbegun_;
  all.insert(all.end(), open_.begin(), open_.end());
  for (const TensorIn& t : content_.tensors) all.push_back(t.name);
  return all;
}

std::vector<Renamed> CheckpointIn::rename(const rml_program& program, const std::vector<Renamed>& map) {
  check_map(map, all_names(), name_);
  const auto to = [&](const std::string& name) { return by_map(name, map); };
  NamedMemories listed = listed_memories(name_, content_);
  std::vector<bool> mapped;
  for (const NamedMemory& m : listed) mapped.push_back(is_mapped(m.name, map));
  rename(to);
  for (NamedMemory& m : listed) {
    m.instance = to(m.instance), m.name = to(m.name);
    if (const TensorIn* const t = content_.find(m.name); t != nullptr) m.type = tensor_type_text(*t);
  }
  const bool placed = std::ranges::any_of(listed, [](const NamedMemory& m) { return !m.content.empty(); });
  NamedMemories here = named_memories(program);
  choose_numbers(listed, map);
  choose_numbers(here, map);
  // A memory without a value has no tensor; it gets the type of a memory of the program that
  // computes the same.
  for (NamedMemory& m : listed)
    for (const NamedMemory& h : here)
      if (m.type.empty() && m.content == h.content) m.type = h.type;
  Matched found;
  if (placed)
    found = match(listed, mapped, here, Names::may_change);
  else
    found.all = found.renamed = by_place(program, listed, content_);
  if (!has_beginning() && !found.all.empty())
    throw Failure(name_ + ": it holds queues between units, and '" + found.all[0].old_name + "' differs in '" +
                  program.name + "': only the same program can continue from it");
  rename([&](const std::string& name) { return by_list(name, found.all); });
  return found.renamed;
}

std::vector<std::string> CheckpointIn::names(const char* key) const {
  try {
    return json::parse(text(key)).get<std::vector<std::string>>();
  } catch (const json::exception&) {
    damaged(std::string("'") + key + "' in __metadata__");
  }
}

void CheckpointIn::damaged(const std::string& what) const { throw Failure(name_ + ": damaged: " + what); }

const std::string& CheckpointIn::text(const char* key) const {
  const auto at = content_.metadata.find(key);
  if (at == content_.metadata.end()) damaged(std::string("no '") + key + "' in __metadata__");
  return at->second;
}

std::vector<double> CheckpointIn::curve(const std::string& name) const {
  const TensorIn* tensor = content_.find(curve_name(name));
  if (tensor == nullptr || tensor->dtype != RML_F64) return {};
  std::vector<double> numbers(tensor->data.size() / 8);
  std::memcpy(numbers.data(), tensor->data.data(), 8 * numbers.size());
  return numbers;
}

std::vector<std::string> CheckpointIn::kept() const { return kept_lines(name_, content_); }

void CheckpointIn::refuse_keys() const {
  if (is_of_keys())
    throw Failure(name_ + ": the file has the states of " + text(keys_key) + " keys; load it in a run with --key");
}

std::int64_t CheckpointIn::restore(const rml_program& program, void* state, GivenParameters& given,
                                   Anchor* anchor) const {
  refuse_keys();
  CyclesOfState run{number<std::int64_t>("cycle"), number<std::int64_t>("rows"), number<std::int64_t>("segments"),
                    number<std::int64_t>("longest_segment")};
  if (run.cycles > most_cycles || run.rows > run.cycles || run_.first_cycle > run.cycles || run_.first_row > run.rows)
    damaged("its cycle numbers contradict each other");
  StateFile file(program, name_, content_);
  rml_header& header = *static_cast<rml_header*>(state);
  if (has_beginning()) {
    const BeginningOfState how{number<std::int64_t>("begins"), unbegun_, open_, text("runs") == on_demand};
    if (text("runs") != runs(program))
      file.note("(it was saved by a program that runs " + text("runs") + ", this one runs " + runs(program) + ")");
    if (program.demand != nullptr)
      restore_on_demand(program, state, file, how, run, given);
    else
      restore_from(program, state, file, how, run, given, anchor);
    if (header.fault != RML_OK) return 0;
  } else {
    const auto again = number<std::int64_t>("rows_again");
    if (again > run.rows) damaged("its cycle numbers contradict each other");
    run.rows -= again;
    restore_units(program, state, file, run, given);
    header.popped = run.rows;
    run.rows += again;
    if (anchor != nullptr) anchor->drop();
  }
  header.pushed = run.cycles;
  header.segments = run.segments;
  header.longest_segment = run.longest_segment;
  return run.rows - header.popped;
}

void CheckpointIn::restore_units(const rml_program& program, void* state, StateFile& file, const CyclesOfState& run,
                                 GivenParameters& given) const {
  file.note(
      "(it holds queues between units, because no cycle separates finished work from the rest: only a program with "
      "the same schedule can continue from it)");
  restore_state(program, state, file, unbegun_, run, given);
  if (text("identity") != hexadecimal(state_identity(program), 16)) {
    throw Failure(name_ + ": saved by a program whose state is laid out differently from that of '" + program.name +
                  "', though the names and types are the same");
  }
}

std::string recorded_path(const std::string& path) { return json::parse(as_text(path)).get<std::string>(); }

void check_checksum(const std::string& name, std::string_view bytes, const Safetensors& content) {
  if (!is_checkpoint(content)) return;
  const std::size_t at = bytes.find(checksum_key);
  const std::size_t begin = at + checksum_key.size();
  if (at == bytes.npos || bytes.size() - begin < no_checksum.size())
    throw Failure(name + ": damaged: it has no checksum");
  std::uint32_t sum = checksum(0, bytes.substr(0, begin));
  sum = checksum(sum, no_checksum);
  sum = checksum(sum, bytes.substr(begin + no_checksum.size()));
  if (bytes.substr(begin, no_checksum.size()) != hexadecimal(sum, 8))
    throw Failure(name + ": damaged: some of its bytes have changed since it was written (checksum)");
}

// Returns an empty list if the state does not list its memories.
NamedMemories listed_memories(const std::string& name, const Safetensors& content) {
  const auto text = content.metadata.find("memories");
  if (!is_checkpoint(content) || text == content.metadata.end()) return {};
  try {
    NamedMemories all;
    for (const json& memory : json::parse(text->second)) {
      NamedMemory& m = all.emplace_back(NamedMemory{memory.at(0), memory.at(1), memory.at(2)});
      if (memory.size() > 5) m.place = memory.at(3), m.within = memory.at(4), m.content = memory.at(5);
    }
    return all;
  } catch (const json::exception&) {
    throw Failure(name + ": damaged: 'memories' in __metadata__ is wrong");
  }
}

void require_savable(const rml_program& program, const std::string& option) {
  if (program.savable == 0) {
    throw Failure(option + ": the reference engine cannot save or load its state", exit_usage);
  }
}

}  // namespace rml::rt
