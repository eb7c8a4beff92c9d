#include "python/src/keyed.h"

#include <algorithm>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/base/faults.h"
#include "runtime/checkpoint/load_parameters.h"
#include "runtime/keys/key_option.h"
#include "runtime/keys/keyed_checkpoint.h"

namespace rml::python {

Keyed::Keyed(std::shared_ptr<const Node> node, std::uint64_t seed, std::int64_t horizon,
             const std::vector<std::string>& shared)
    : node_(std::move(node)),
      horizon_(horizon),
      shared_(shared),
      memory_(rt::default_memory_ceiling()),
      in_(table().inputs, table().n_inputs),
      out_(table().outputs, table().n_outputs),
      out_present_(table().n_outputs) {
  rt::Options options;
  options.shared = shared;
  rt::require_keyable(table(), options);
  streams_ = begin(seed, given_, nullptr);
}

std::unique_ptr<Keyed::Streams> Keyed::begin(std::uint64_t seed, rt::GivenParameters& given,
                                             std::vector<std::string>* told) {
  auto streams = std::make_unique<Streams>(table(), memory_, seed, horizon_);
  streams->states.share(shared_);
  if (parameters_)
    streams->states.begin_with([&](void* state) {
      const auto lines = rt::load_parameters(table(), state, *parameters_, given);
      if (told != nullptr) *told = lines;
    });
  return streams;
}

std::vector<std::string> Keyed::load_parameters(const rt::ParameterSource& source) {
  parameters_ = source;
  std::vector<std::string> told;
  streams_ = begin(streams_->seed, given_, &told);
  return told;
}

std::string Keyed::save() {
  rt::require_savable(table(), "save");
  check_none_failed();
  std::string bytes;
  const auto put = [&](std::uint64_t offset, std::string_view piece) {
    bytes.resize(std::max<std::size_t>(bytes.size(), offset + piece.size()));
    std::ranges::copy(piece, bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  };
  rt::save_keys(table(), streams_->keys, streams_->states, streams_->waiting,
                {streams_->seed, streams_->read, streams_->written}, {}, {}, memory_, put);
  return bytes;
}

void Keyed::load(const std::string& name, std::string bytes, const std::vector<std::string>& map) {
  rt::require_savable(table(), "load");
  const rt::CheckpointIn saved(name, std::move(bytes));
  rt::GivenParameters given;
  auto streams = begin(saved.seed(), given, nullptr);
  static_cast<void>(
      rt::restore_keys(saved, table(), rt::parse_map(map), streams->keys, streams->states, streams->waiting, given));
  streams->read = saved.cycles();
  streams->written = saved.rows();
  streams_ = std::move(streams);
  given_ = std::move(given);
  failed_.reset();
}

void Keyed::check_none_failed() const {
  if (failed_) throw RunFault(*failed_);
}

void Keyed::check(const rml_header& header, std::uint32_t key) {
  std::string why;
  if (header.fault != RML_OK)
    why = rt::fault_text(table(), header, [](std::uint32_t) { return std::string("argument"); });
  else if (rt::needs_itself(header))
    why = rt::undetermined_text(table(), header);
  else
    return;
  failed_.emplace(why + " (key '" + text(key) + "')", table(), header);
  throw RunFault(*failed_);
}

KeyedRows Keyed::no_rows() const {
  KeyedRows keyed;
  keyed.rows.first = streams_->written;
  keyed.rows.columns.resize(table().n_outputs);
  for (std::uint32_t k = 0; k < table().n_outputs; ++k) keyed.rows.columns[k].port = &table().outputs[k];
  return keyed;
}

void Keyed::push(std::uint32_t key, const void* const* in, const std::uint8_t* present) {
  const rml_header& header = streams_->states.enter(key);
  table().push(streams_->states.block(), in, present);
  if (streams_->states.may_wait() && header.fault == RML_OK) streams_->waiting.add(key, streams_->read);
  ++streams_->read;
}

// Takes a row of the current key.
bool Keyed::pop(std::uint32_t key, void* const* to, std::uint8_t* present) {
  if (table().pop(streams_->states.block(), to, present) != 1) return false;
  if (streams_->states.may_wait()) streams_->waiting.take(key);
  ++streams_->written;
  return true;
}

void Keyed::push(const std::string& key) {
  check_none_failed();
  key_ = streams_->keys.texts().number(key);
  push(key_, in_.const_pointers(), in_.present());
  if (streams_->states.header().fault != RML_OK) check(streams_->states.header(), key_);
}

bool Keyed::row() {
  if (pop(key_, out_.pointers(), out_.present())) return true;
  check(streams_->states.header(), key_);
  return false;
}

bool Keyed::take(std::uint32_t key, KeyedRows& keyed) {
  Rows& rows = keyed.rows;
  std::vector<void*> to(rows.columns.size());
  for (std::size_t k = 0; k < to.size(); ++k) {
    rows.columns[k].reserve(rows.columns[k].size + 1);
    to[k] = rows.columns[k].value(rows.columns[k].size);
  }
  const std::int64_t row = streams_->written;
  if (!pop(key, to.data(), out_present_.data())) return false;
  for (std::size_t k = 0; k < to.size(); ++k) {
    Column& column = rows.columns[k];
    if (column.port->always == 0) {
      if (out_present_[k] == 0) continue;
      column.at.push_back(row);
    }
    ++column.size;
  }
  keyed.keys.push_back(key);
  ++rows.count;
  return true;
}

std::int64_t Keyed::run(const Cycles& cycles, const std::vector<std::string>& texts, const std::int64_t* key_of,
                        KeyedRows& rows, const std::function<bool()>& interrupted) {
  constexpr std::int64_t cycles_between_looks = 4096;
  constexpr std::uint32_t unseen = UINT32_MAX;
  check_none_failed();
  std::vector<std::uint32_t> numbers(texts.size(), unseen);
  std::vector<const void*> in(table().n_inputs);
  std::vector<std::uint8_t> present(table().n_inputs);
  for (std::int64_t i = 0; i < cycles.count; ++i) {
    if (i % cycles_between_looks == cycles_between_looks - 1 && interrupted()) return i;
    std::uint32_t& key = numbers[static_cast<std::size_t>(key_of[i])];
    if (key == unseen) key = streams_->keys.texts().number(texts[static_cast<std::size_t>(key_of[i])]);
    for (std::uint32_t k = 0; k < table().n_inputs; ++k) {
      const rml_port& port = table().inputs[k];
      const std::uint64_t bytes = port.elements * rt::dtype_bytes(port.dtype);
      in[k] = static_cast<const char*>(cycles.elements[k]) + static_cast<std::uint64_t>(i) * bytes;
      present[k] = cycles.present[k] == nullptr ? 1 : cycles.present[k][i];
    }
    push(key, in.data(), present.data());
    while (take(key, rows)) {
    }
    check(streams_->states.header(), key);
  }
  return cycles.count;
}

std::int64_t Keyed::finish(KeyedRows& rows, std::string& why) {
  check_none_failed();
  Streams& s = *streams_;
  for (std::uint32_t key = 0; s.states.may_wait() && key < s.states.size(); ++key) {
    if (!s.waiting.first(key)) continue;
    const rml_header& header = s.states.enter(key);
    table().finish(s.states.block());
    check(header, key);
  }
  std::int64_t unknown = 0;
  s.waiting.in_order([&](std::uint32_t key) {
    const rml_header& header = s.states.enter(key);
    if (take(key, rows)) return true;
    if (unknown == 0) why = "key '" + text(key) + "': " + rt::undetermined_text(table(), header);
    unknown += header.pushed - header.popped;
    return false;
  });
  return unknown;
}

}  // namespace rml::python
