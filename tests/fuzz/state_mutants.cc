// A file is split into its header and its tensors. Most mutants change a number, a shape, a count
// or a name, and are written again such that everything else matches. Only the check of the
// changed property can then refuse the file.
#include "fuzz/state_mutants.h"

#include <dlfcn.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "runtime/checkpoint/anchor.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/load_parameters.h"
#include "runtime/run/program_state.h"
#include "runtime/scheduler/network.h"
#include "runtime/stream_io/row.h"

namespace rml::fuzz {

namespace {

using Json = nlohmann::ordered_json;
using rt::Row;

constexpr int cycles_after = 12;
constexpr std::size_t prefix = 8;

// ---- running programs

// Inputs of cycle k, the same in each run. The first input is the clock of the others.
void set_inputs(Row& row, std::int64_t k) {
  for (std::uint32_t i = 0; i < row.size(); ++i) {
    row.set_present(i, row.port(i).always != 0 || *static_cast<const std::uint8_t*>(row.element(0, 0)) != 0);
    for (std::uint64_t e = 0; e < row.port(i).elements; ++e) {
      if (row.port(i).dtype == RML_BOOL)
        *static_cast<std::uint8_t*>(row.element(i, e)) = k % 5 == 4 - static_cast<std::int64_t>(i) ? 1 : 0;
      else
        *static_cast<double*>(row.element(i, e)) = static_cast<double>(k * 37 % 101) / 8 - static_cast<double>(e);
    }
  }
}

// A function that uses the state after the run.
using Then = std::function<void()>;

void run_alone(const rml_program& program, void* state, int cycles, bool finish, rt::Anchor& anchor, const Then& then) {
  Row in(program.inputs, program.n_inputs), out(program.outputs, program.n_outputs);
  const auto& header = *static_cast<const rml_header*>(state);
  for (int k = 0; k < cycles && header.fault == RML_OK; ++k) {
    set_inputs(in, k);
    program.push(state, in.const_pointers(), in.present());
    while (program.pop(state, out.pointers(), out.present()) != 0) continue;
    if (header.fault != RML_OK) break;
    anchor.add(in.const_pointers(), in.present());
    if (anchor.wants_look()) anchor.look(state);
  }
  if (finish && header.fault == RML_OK) program.finish(state);
  while (finish && program.pop(state, out.pointers(), out.present()) != 0) continue;
  then();
}

// Runs to the last row or until the network is idle. The rings end with the run, so `then` saves
// the state before.
void run_network(const rml_program& program, void* state, int cycles, bool finish, rt::Anchor& anchor,
                 const Then& then) {
  Row in(program.inputs, program.n_inputs), out(program.outputs, program.n_outputs);
  rt::Network network(program, state, {2, 0, nullptr});
  int pushed = 0;
  bool ended = false;
  while (!ended) {
    const std::uint32_t seen = network.changes();
    bool moved = false;
    if (pushed < cycles) {
      set_inputs(in, pushed);
      const auto taken = network.try_push(in.const_pointers(), in.present());
      moved = taken != rt::Network::Taken::full;
      if (taken == rt::Network::Taken::yes) ++pushed, anchor.add(in.const_pointers(), in.present());
      if (taken == rt::Network::Taken::failed) pushed = cycles;
      if (pushed == cycles) network.announce();
      if (pushed == cycles && (finish || network.failed())) network.close();
    }
    const bool at_rest = pushed == cycles && !finish && network.settled();
    const auto row = network.try_pop(out.pointers(), out.present());
    ended = row == rt::Network::Row::ended || (at_rest && row == rt::Network::Row::none);
    if (!ended && !moved && row == rt::Network::Row::none) network.wait(seen);
  }
  network.stop();
  network.report();
  if (!finish && !network.failed() && anchor.wants_look()) anchor.look(state);
  then();
}

void run(const rml_program& program, void* state, int cycles, bool finish, rt::Anchor& anchor, const Then& then) {
  (program.network != nullptr ? run_network : run_alone)(program, state, cycles, finish, anchor, then);
}

// Returns the file of a state after some cycles. If `anchored`, the state begins at an anchor and
// every schedule can read it; otherwise it contains the units of this schedule.
std::string save_after(const rml_program& program, int cycles, bool anchored) {
  const rt::ProgramState state(program, 7, 0);
  rt::Anchor anchor(program);
  if (anchored) anchor.begin(state.block());
  std::string bytes;
  run(program, state.block(), cycles, false, anchor, [&] {
    const rt::CheckpointOut saved(program, state.block(), {}, {}, anchored ? &anchor : nullptr);
    for (const std::string_view piece : saved.pieces()) bytes += piece;
  });
  return bytes;
}

// ---- taking files apart

struct Tensor {
  std::string name;
  Json entry;
  std::string data;
};

struct File {
  Json metadata;
  std::vector<Tensor> tensors;
};

File take_apart(const std::string& bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), prefix);
  const Json header = Json::parse(bytes.substr(prefix, length));
  File file;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      file.metadata = entry;
      continue;
    }
    const auto begin = entry["data_offsets"][0].get<std::size_t>(), end = entry["data_offsets"][1].get<std::size_t>();
    file.tensors.push_back({name, entry, bytes.substr(prefix + length + begin, end - begin)});
  }
  return file;
}

// Writes the correct checksum of the changed bytes.
void seal(std::string& bytes) {
  constexpr std::string_view key = "\"checksum\":\"";
  constexpr std::size_t digits = 8;
  const std::size_t at = bytes.find(key);
  if (at == std::string::npos || bytes.size() - at < key.size() + digits) return;
  bytes.replace(at + key.size(), digits, std::string(digits, '0'));
  char text[digits + 1];
  const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  std::snprintf(text, sizeof text, "%08lx", sum);
  bytes.replace(at + key.size(), digits, text);
}

std::string put_together(const File& file, const std::string& mutated_header) {
  std::string text = mutated_header, data;
  if (text.empty()) {
    Json header;
    if (!file.metadata.is_null()) header["__metadata__"] = file.metadata;
    for (const Tensor& t : file.tensors) {
      Json entry = t.entry;
      // A mutant that changed the offsets keeps them.
      if (!entry.contains("kept")) entry["data_offsets"] = {data.size(), data.size() + t.data.size()};
      entry.erase("kept");
      header[t.name] = entry;
      data += t.data;
    }
    text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  } else {
    for (const Tensor& t : file.tensors) data += t.data;
  }
  const std::uint64_t length = text.size();
  std::string bytes(prefix, '\0');
  std::memcpy(bytes.data(), &length, prefix);
  bytes += text + data;
  seal(bytes);
  return bytes;
}

// ---- mutants

bool has_counts(const Tensor& t) { return t.entry["dtype"] == "I64" && t.data.size() >= 8; }

void change_count(Tensor& t, Random& random) {
  const std::size_t at = 8 * below(random, t.data.size() / 8);
  std::int64_t number = 0;
  std::memcpy(&number, t.data.data() + at, 8);
  number = telling_number(number, random);
  std::memcpy(t.data.data() + at, &number, 8);
}

// Changes all counts of a tensor by the same number, so their differences stay.
void move_counts(Tensor& t, Random& random) {
  const auto by = static_cast<std::uint64_t>(telling_number(0, random));
  for (std::size_t at = 0; at + 8 <= t.data.size(); at += 8) {
    std::uint64_t number = 0;
    std::memcpy(&number, t.data.data() + at, 8);
    number += by;
    std::memcpy(t.data.data() + at, &number, 8);
  }
}

// Changes the length along the first axis, with the elements.
void change_length(Tensor& t, Random& random) {
  Json& shape = t.entry["shape"];
  if (shape.empty() || shape[0].get<std::uint64_t>() == 0) return;
  const auto length = shape[0].get<std::uint64_t>(), row = t.data.size() / length;
  const std::uint64_t changed = below(random, 2) == 0 ? length + 1 + below(random, 70) : below(random, length);
  t.data.resize(changed * row, '\1');
  shape[0] = changed;
}

void change_shape(Tensor& t, Random& random) {
  Json& shape = t.entry["shape"];
  const std::uint64_t at = below(random, shape.size() + 1);
  if (at < shape.size())
    shape[at] = static_cast<std::uint64_t>(telling_number(shape[at].get<std::int64_t>(), random));
  else
    shape.push_back(below(random, 2));
}

void change_offsets(Tensor& t, Random& random) {
  Json& offset = t.entry["data_offsets"][below(random, 2)];
  offset = static_cast<std::uint64_t>(telling_number(offset.get<std::int64_t>(), random));
  t.entry["kept"] = true;
}

void change_metadata(File& file, Random& random) {
  if (!file.metadata.is_object() || file.metadata.empty()) return;
  auto at = file.metadata.begin();
  std::advance(at, below(random, file.metadata.size()));
  if (at.key() == "checksum" || !at.value().is_string()) return;
  std::string text = at.value().get<std::string>();
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
    damage_text(text, random);
  else
    text = std::to_string(telling_number(std::atoll(text.c_str()), random));
  at.value() = text;
}

// Exchanges the name of a parameter's value with that of a given value, or sets whether it has
// begun.
void change_begun(File& file, Tensor& t, Random& random) {
  if (below(random, 2) == 0) {
    t.name = t.name.starts_with("given ") ? t.name.substr(6) : "given " + t.name;
    return;
  }
  if (!file.metadata.is_object() || !file.metadata.contains("unbegun")) return;
  Json names = Json::parse(file.metadata["unbegun"].get<std::string>(), nullptr, false);
  if (!names.is_array()) return;
  if (!names.empty() && below(random, 2) == 0)
    names.erase(below(random, names.size()));
  else
    names.push_back(t.name);
  file.metadata["unbegun"] = names.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void change(File& file, Random& random) {
  static const char* dtypes[] = {"BOOL", "U8", "I64", "F16", "F32", "F64", "U64", "F8_E4M3", ""};
  if (file.tensors.empty()) return;
  Tensor& t = file.tensors[below(random, file.tensors.size())];
  const Tensor& other = file.tensors[below(random, file.tensors.size())];
  switch (below(random, 14)) {
    case 0:
    case 1:
    case 2:
      if (has_counts(t)) change_count(t, random);
      break;
    case 3:
      if (has_counts(t)) move_counts(t, random);
      break;
    case 4:
    case 5:
      change_length(t, random);
      break;
    case 6:
      change_shape(t, random);
      break;
    case 7:
      change_offsets(t, random);
      break;
    case 8:
      t.entry["dtype"] = dtypes[below(random, std::size(dtypes))];
      break;
    case 9:
      t.name = below(random, 2) == 0 ? other.name : "net." + t.name;
      break;
    case 10:
      change_begun(file, t, random);
      break;
    case 11:
      if (!t.data.empty()) damage_bytes(t.data, t.data + other.data + ".", random);
      break;
    default:
      change_metadata(file, random);
  }
}

std::string mutant(const std::string& base, Random& random) {
  if (below(random, 8) == 0) {  // writes any bytes, with a correct checksum
    std::string bytes = base;
    damage_bytes(bytes, base, random);
    if (below(random, 4) != 0) seal(bytes);
    return bytes;
  }
  File file = take_apart(base);
  if (below(random, 8) == 0) {  // changes the header as a text
    std::uint64_t length = 0;
    std::memcpy(&length, base.data(), prefix);
    std::string header = base.substr(prefix, length);
    damage_text(header, random);
    return put_together(file, header + " ");
  }
  for (std::uint64_t n = 1 + below(random, 3); n > 0; --n) change(file, random);
  return put_together(file, "");
}

}  // namespace

SavedProgram load_saved(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string symbol = name.substr(0, name.find('.')) + "_program";
  SavedProgram saved{static_cast<const rml_program*>(dlsym(library, symbol.c_str())), {}};
  if (saved.program == nullptr) throw std::runtime_error(path + " has no " + symbol);
  for (const int cycles : {0, 1, 3, 7, 8, 24, 41, 700})
    for (const bool anchored : {true, false}) saved.states.push_back(save_after(*saved.program, cycles, anchored));
  return saved;
}

void run_state_mutant(const SavedProgram& saved, Random& random) {
  const std::string bytes = mutant(saved.states[below(random, saved.states.size())], random);
  rt::CheckpointIn in("mutant", bytes);
  if (below(random, 2) == 0) in.rename(*saved.program, {});
  const rt::ProgramState state(*saved.program, in.seed(), 0);
  rt::GivenParameters given;
  rt::Anchor anchor(*saved.program);
  rt::RunRecord record;
  record.rows_again = in.restore(*saved.program, state.block(), given, &anchor);
  if (state.header().fault != RML_OK) return;
  run(*saved.program, state.block(), cycles_after, below(random, 4) != 0, anchor, [&] {
    if (state.header().fault == RML_OK) rt::CheckpointOut(*saved.program, state.block(), record, {}, &anchor);
  });
}

void run_parameter_mutant(const SavedProgram& saved, const std::string& folder, Random& random) {
  const std::string& base = saved.states[below(random, saved.states.size())];
  std::string bytes = base;
  if (below(random, 2) == 0) {  // makes a file of an unknown program
    File file = take_apart(base);
    file.metadata = nullptr;
    bytes = put_together(file, "");
  }
  bytes = mutant(bytes, random);
  const std::string path = folder + "/mutant.safetensors";
  std::ofstream(path, std::ios::binary) << bytes;
  const rt::ProgramState state(*saved.program, 7, 0);
  rt::GivenParameters given;
  rt::load_parameters(*saved.program, state.block(), {path, {}, false}, given);
  rt::Anchor anchor(*saved.program);
  run(*saved.program, state.block(), 3, true, anchor, [] {});
}

}  // namespace rml::fuzz
