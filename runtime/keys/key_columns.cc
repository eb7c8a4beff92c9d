// Writes columns in chunks and reads them key by key.
//
// While reading, each key normally passes the same checks as the state of one instance. If the
// program has exactly the memories of the file, only the first key is checked that way and the
// others are copied. Apart from their values, the only things that can be wrong with these are
// the number of rows and invalid Booleans, which are checked.
#include "runtime/keys/key_columns.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/base/nans.h"
#include "runtime/checkpoint/beginning.h"
#include "runtime/checkpoint/format_version.h"
#include "runtime/checkpoint/kept_tensors.h"
#include "runtime/checkpoint/state_parts.h"
#include "runtime/keys/parts_of_keys.h"

namespace rml::rt {
namespace {

constexpr const char* cycles_of_keys = "cycles of keys";
constexpr std::string_view each = "each ", begun = "begun ";
constexpr std::uint64_t most_of_chunks = std::uint64_t{4} << 20;  // limit on the bytes of all chunks together
constexpr std::uint32_t keys_ahead = 8;
constexpr std::int64_t most_cycles = std::int64_t{1} << 62;

std::span<const rml_parameter> parameters_of(const rml_program& program) {
  return {program.parameters, program.n_parameters};
}

bool has_slot(const rml_parameter& p) { return p.slot != UINT64_MAX; }

// ---- writing ----

// True if every parameter with a memory is stored under its path in a saved state.
bool are_memories(const rml_program& program) {
  std::map<std::string, std::uint32_t> memory_of;
  for (const rml_origin* const o : named_origins(program)) memory_of[o->name] = o->memory;
  return std::ranges::all_of(parameters_of(program), [&](const rml_parameter& p) {
    const auto found = memory_of.find(p.path);
    return p.memory == UINT32_MAX || (found != memory_of.end() && found->second == p.memory);
  });
}

// The parameters (by path) whose first value some key has not read yet. None if a key has further
// facts about its parameters to save, which columns cannot represent.
using Unbegun = std::map<std::string, const rml_parameter*>;
std::optional<Unbegun> find_unbegun(const rml_program& program, KeyStates& states) {
  Unbegun found;
  if (states.may_wait() || !are_memories(program)) return std::nullopt;
  if (std::ranges::none_of(parameters_of(program), has_slot)) return found;
  for (std::uint32_t key = 0; key < states.size(); ++key) {
    states.expect(key + keys_ahead);
    states.enter(key);
    const rml_parameter* last = nullptr;
    for (const rml_parameter& p : parameters_of(program)) {
      if (!has_slot(p)) continue;
      const bool looked = looked_at(states.block(), p), again = last != nullptr && std::strcmp(last->path, p.path) == 0;
      if ((again && looked != looked_at(states.block(), *last)) || (!looked && given_in(states.block(), p) != nullptr))
        return std::nullopt;
      if (!looked) found.emplace(p.path, &p);
      last = &p;
    }
  }
  return found;
}

struct Column {
  TensorOut tensor;
  const rml_memory* memory = nullptr;
  // set for a column of flags, which tell whether the parameter's first value was read. If
  // `memory` is null too, the column holds numbers of cycles
  const rml_parameter* parameter = nullptr;
  std::uint64_t bytes = 0;  // bytes per key
  std::uint64_t at = 0;     // offset in the file of the next chunk
  std::uint32_t sum = 0;    // checksum of the bytes written
  std::string chunk = {};   // bytes of the column that are not written yet
};

class ColumnsOut {
 public:
  ColumnsOut(const rml_program& program, const Keys& keys, KeyStates& states, const StateTensors& given,
             const Unbegun& unbegun)
      : program_(program), states_(states), given_(given) {
    for (std::uint32_t key = 0; key < states.size(); ++key) {
      texts_ += keys.text(key);
      ends_.push_back(static_cast<std::int64_t>(texts_.size()));
    }
    find_columns(unbegun);
  }

  void write(const Metadata& metadata, const PutBytes& put) {
    std::vector<TensorOut> tensors = others();
    for (const Column& c : columns_) tensors.push_back(c.tensor);
    std::string head = safetensors_head(tensors, metadata);
    std::uint64_t at = head.size();
    for (const TensorOut& t : tensors) {
      if (Column* const c = column(t.name)) c->at = at;
      at += bytes_of(t);
    }
    write_columns(put);
    std::uint32_t sum = checksum(0, head);
    at = head.size();
    for (const TensorOut& t : tensors) {
      const Column* const c = column(t.name);
      std::uint32_t own = c != nullptr ? c->sum : 0;
      for (const std::string_view piece : t.pieces) {
        put(at, piece);
        own = checksum(own, piece);
      }
      sum = joined_checksums(sum, own, bytes_of(t));
      at += bytes_of(t);
    }
    seal(head, sum);
    put(0, head);
  }

 private:
  void find_columns(const Unbegun& unbegun) {
    const std::uint64_t keys = states_.size();
    for (const rml_origin* const o : named_origins(program_)) {
      const rml_memory& m = program_.memories[o->memory];
      std::vector<std::uint64_t> shape{keys};
      shape.insert(shape.end(), m.dims, m.dims + m.rank);
      columns_.push_back({{std::string(each) + o->name, m.dtype, std::move(shape), {}}, &m, nullptr, value_bytes(m)});
    }
    for (const auto& [path, parameter] : unbegun)
      columns_.push_back({{std::string(begun) + path, RML_BOOL, {keys}, {}}, nullptr, parameter, 1});
    columns_.push_back({{cycles_of_keys, RML_I64, {keys}, {}}, nullptr, nullptr, sizeof(std::int64_t)});
  }

  // The tensors of the checkpoint that are not columns.
  std::vector<TensorOut> others() const {
    std::vector<TensorOut> all{{texts_of_keys, RML_U8, {texts_.size()}, {texts_}},
                               {ends_of(texts_of_keys), RML_I64, {ends_.size()}, {bytes_of_numbers(ends_)}},
                               {cycles_name, RML_BOOL, {0}, {}}};
    for (const rml_port& input : std::span(program_.inputs, program_.n_inputs)) {
      std::vector<std::uint64_t> shape{0};
      shape.insert(shape.end(), input.dims, input.dims + input.rank);
      all.push_back({input_name(input), input.dtype, std::move(shape), {}});
      all.push_back({cycles_of(input_name(input)), RML_I64, {0}, {}});
    }
    all.insert(all.end(), given_.tensors.begin(), given_.tensors.end());
    return all;
  }

  Column* column(const std::string& name) {
    const auto found = std::ranges::find(columns_, name, [](const Column& c) { return c.tensor.name; });
    return found == columns_.end() ? nullptr : &*found;
  }

  void write_columns(const PutBytes& put) {
    std::uint64_t of_key = 0;
    for (const Column& c : columns_) of_key += c.bytes;
    const std::uint64_t at_once = std::max<std::uint64_t>(most_of_chunks / of_key, 1);
    for (std::uint32_t key = 0; key < states_.size();) {
      const std::uint32_t end = static_cast<std::uint32_t>(std::min<std::uint64_t>(key + at_once, states_.size()));
      for (; key < end; ++key) add(key);
      for (Column& c : columns_) {
        put(c.at, c.chunk);
        c.sum = checksum(c.sum, c.chunk);
        c.at += c.chunk.size();
        c.chunk.clear();
      }
    }
  }

  void add(std::uint32_t key) {
    states_.expect(key + keys_ahead);
    const rml_header& header = states_.enter(key);
    for (Column& c : columns_) {
      if (c.memory != nullptr) {
        const std::size_t before = c.chunk.size();
        c.chunk.append(states_.memory(*c.memory), c.bytes);
        unify_nans(c.memory->dtype, c.chunk.data() + before, c.bytes);
      } else if (c.parameter != nullptr) {
        c.chunk.push_back(looked_at(states_.block(), *c.parameter) ? 1 : 0);
      } else {
        c.chunk.append(reinterpret_cast<const char*>(&header.pushed), c.bytes);
      }
    }
  }

  const rml_program& program_;
  KeyStates& states_;
  const StateTensors& given_;
  std::string texts_;
  std::vector<std::int64_t> ends_;
  std::vector<Column> columns_;
};

// ---- reading ----

struct ColumnIn {
  TensorIn of_one;              // name, type and shape of the tensor for one key
  const char* all = nullptr;    // values of all keys
  std::uint64_t bytes = 0;      // bytes per key
  const char* begun = nullptr;  // one per key: true if it has read the first value; null: all keys have
};

class ColumnsIn {
 public:
  ColumnsIn(const CheckpointIn& saved, const rml_program& program, const std::vector<Renamed>& map, std::uint64_t keys)
      : saved_(saved), program_(program), map_(map), keys_(keys) {
    for (const TensorIn& t : saved.content().tensors) add(t);
    for (const TensorIn& t : saved.content().tensors)
      if (t.name.starts_with(begun)) add_begun(t);
    if (cycles_.size() != keys * sizeof(std::int64_t)) damaged(cycles_of_keys);
  }

  // Restores a key into its unused state. renamed: set for the first key; the same for all keys.
  void restore(std::uint64_t key, const std::string& text, KeyStates& states, GivenParameters& given,
               std::vector<Renamed>& renamed) {
    rml_header& header = states.header();
    if (key > 0 && copies_) {
      copy(key, header, states.block());
    } else {
      CheckpointIn one(saved_.name() + " (key '" + text + "')", content_of(key, header.seed, false));
      std::vector<Renamed> own = one.rename(program_, map_);
      if (key == 0) renamed = std::move(own);
      if (one.restore(program_, states.block(), given) != 0 || header.fault != RML_OK) damaged(cycles_of_keys);
    }
    if (key == 0) find_copies();
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const {
    throw Failure(saved_.name() + ": damaged: the tensor '" + what + "' of its keys is wrong");
  }

  void add(const TensorIn& t) {
    if (t.name == texts_of_keys || t.name == ends_of(texts_of_keys) || t.name.starts_with(begun) ||
        t.name.starts_with(given_name("")) || is_kept_name(t.name))
      return;
    if (t.name == cycles_of_keys) {
      if (t.dtype == RML_I64) cycles_ = t.data;
      return;
    }
    if (!t.name.starts_with(each)) return others_.push_back(t);
    ColumnIn& c = columns_.emplace_back();
    c.of_one = t;
    c.of_one.name = t.name.substr(each.size());
    if (t.shape.empty() || t.shape[0] != keys_ || t.dtype == foreign_dtype) damaged(t.name);
    c.of_one.shape.erase(c.of_one.shape.begin());
    c.all = t.data.data();
    c.bytes = keys_ == 0 ? 0 : t.data.size() / keys_;
    if (t.dtype == RML_BOOL) check_truths(t);
  }

  void add_begun(const TensorIn& t) {
    if (t.dtype != RML_BOOL || t.data.size() != keys_) damaged(t.name);
    check_truths(t);
    const std::string path = t.name.substr(begun.size());
    begun_[path] = t.data.data();
    for (ColumnIn& c : columns_)
      if (c.of_one.name == path) c.begun = t.data.data();
  }

  void check_truths(const TensorIn& t) const {
    for (const char c : t.data)
      if (c != 0 && c != 1) damaged(t.name);
  }

  std::int64_t cycles(std::uint64_t key) const {
    std::int64_t count = 0;
    std::memcpy(&count, cycles_.data() + key * sizeof count, sizeof count);
    if (count < 1 || count > most_cycles) damaged(cycles_of_keys);
    return count;
  }

  // The state of one key in the form of a saved instance. whole: include values of parameters
  // whose first value was not read.
  Safetensors content_of(std::uint64_t key, std::uint64_t seed, bool whole) const {
    Safetensors content;
    nlohmann::json unbegun = nlohmann::json::array();
    for (const auto& [path, all] : begun_)
      if (all[key] == 0) unbegun.push_back(path);
    const std::string count = std::to_string(cycles(key));
    content.metadata = saved_.content().metadata;
    content.metadata.erase(keys_key);
    for (const char* const name : {"cycle", "rows", "begins"}) content.metadata[name] = count;
    for (const char* const name : {"segments", "longest_segment", "first_cycle", "first_row", "input_checksum"})
      content.metadata[name] = "0";
    content.metadata["seed"] = std::to_string(seed);
    content.metadata["outputs"] = "[]";
    content.metadata["unbegun"] = unbegun.dump();
    content.metadata["version"] = state_format_version;
    content.tensors = others_;
    for (const ColumnIn& c : columns_) {
      if (!whole && c.begun != nullptr && c.begun[key] == 0) continue;
      TensorIn& t = content.tensors.emplace_back(c.of_one);
      t.data = {c.all + key * c.bytes, c.bytes};
    }
    return content;
  }

  // Decides whether states can be copied: the program has exactly the memories of the columns, by
  // name, type and shape.
  void find_copies() {
    if (program_.flow != nullptr || program_.demand != nullptr) return;
    CheckpointIn one(saved_.name(), content_of(0, 0, true));
    static_cast<void>(one.rename(program_, map_));
    const std::vector<TensorIn>& renamed = one.content().tensors;
    std::map<std::string, ColumnIn*> by_name;
    for (std::size_t k = 0; k < columns_.size(); ++k) by_name[renamed[others_.size() + k].name] = &columns_[k];
    if (named_origins(program_).size() != columns_.size()) return;
    for (const rml_origin& o : std::span(program_.origins, program_.n_origins)) {
      const rml_memory& m = program_.memories[o.memory];
      const auto found = by_name.find(o.name);
      if (o.then != nullptr) continue;
      if (found == by_name.end()) return;
      const TensorIn& of_one = found->second->of_one;
      if (of_one.dtype != m.dtype || of_one.shape != std::vector<std::uint64_t>(m.dims, m.dims + m.rank)) return;
      puts_.emplace_back(found->second, &m);
    }
    for (const auto& [path, all] : begun_)
      if (std::ranges::none_of(columns_, [&](const ColumnIn& c) { return c.begun == all; })) return;
    for (const rml_parameter& p : parameters_of(program_)) {
      const auto found = by_name.find(p.path);
      if (has_slot(p)) slots_.push_back({p.slot, found == by_name.end() ? nullptr : found->second->begun});
    }
    copies_ = true;
  }

  void copy(std::uint64_t key, rml_header& header, void* state) const {
    header.pushed = header.popped = cycles(key);
    for (const rml_origin& o : std::span(program_.origins, program_.n_origins))
      if (o.then != nullptr) put_cell(state, program_.memories[o.memory], static_cast<const char*>(o.then));
    for (const auto& [c, m] : puts_)
      if (c->begun == nullptr || c->begun[key] != 0) put_cell(state, *m, c->all + key * c->bytes);
    for (const auto& [slot, all] : slots_)
      if (all == nullptr || all[key] != 0) *reinterpret_cast<void**>(static_cast<char*>(state) + slot) = nullptr;
  }

  const CheckpointIn& saved_;
  const rml_program& program_;
  const std::vector<Renamed>& map_;
  const std::uint64_t keys_;
  std::vector<TensorIn> others_;
  std::vector<ColumnIn> columns_;
  std::map<std::string, const char*> begun_;  // indexed by path in the file: which keys have begun
  std::string_view cycles_;
  // If states can be copied: the memory of each column, and the slot and flags of each parameter.
  bool copies_ = false;
  std::vector<std::pair<const ColumnIn*, const rml_memory*>> puts_;
  std::vector<std::pair<std::uint64_t, const char*>> slots_;
};

}  // namespace

bool write_columns(const rml_program& program, const Keys& keys, KeyStates& states, const StateTensors& given,
                   Metadata metadata, const PutBytes& put) {
  const std::optional<Unbegun> unbegun = find_unbegun(program, states);
  if (!unbegun) return false;
  metadata["version"] = columns_format_version;
  metadata["memories"] = listed(program);
  metadata["open"] = "[]";
  metadata["runs"] = "by a schedule";
  ColumnsOut(program, keys, states, given, *unbegun).write(metadata, put);
  return true;
}

bool has_columns(const CheckpointIn& saved) { return saved.content().find(cycles_of_keys) != nullptr; }

void restore_columns(const CheckpointIn& saved, const rml_program& program, const std::vector<Renamed>& map, Keys& keys,
                     KeyStates& states, GivenParameters& given, std::vector<Renamed>& renamed) {
  PartsOfKeys texts(saved, texts_of_keys, RML_U8, 1);
  ColumnsIn columns(saved, program, map, texts.count());
  for (std::uint64_t k = 0; k < texts.count(); ++k) {
    const std::string text(texts.next());
    states.gather(number_of_saved(saved, text, k, keys));
    columns.restore(k, text, states, given, renamed);
    states.restored();
  }
}

}  // namespace rml::rt
