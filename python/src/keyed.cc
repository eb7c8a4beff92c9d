// See keyed.h.
#include "python/src/keyed.h"

#include <utility>

#include "runtime/base/failure.h"
#include "runtime/base/faults.h"
#include "runtime/checkpoint/load_parameters.h"
#include "runtime/keys/key_option.h"

namespace rml::python {

Keyed::Keyed(std::shared_ptr<const Node> node, std::uint64_t seed, std::int64_t horizon,
             const std::vector<std::string>& shared)
    : node_(std::move(node)),
      memory_(rt::default_memory_ceiling()),
      keys_(memory_),
      states_(table(), keys_, memory_, seed, horizon),
      out_present_(table().n_outputs) {
  rt::Options options;
  options.shared = shared;
  rt::require_keyable(table(), options);
  states_.share(shared);
}

std::vector<std::string> Keyed::load_parameters(const rt::ParameterSource& source) {
  std::vector<std::string> told;
  states_.begin_with([&](void* state) { told = rt::load_parameters(table(), state, source, given_); });
  return told;
}

void Keyed::check(const rml_header& header, std::uint32_t key) const {
  const std::string of_key = " (key '" + text(key) + "')";
  if (header.fault != RML_OK)
    throw RunFault(rt::fault_text(table(), header, [](std::uint32_t) { return std::string("argument"); }) + of_key,
                   table(), header);
  if (rt::needs_itself(header)) throw RunFault(rt::undetermined_text(table(), header) + of_key, table(), header);
}

KeyedRows Keyed::no_rows() const {
  KeyedRows keyed;
  keyed.rows.first = written_;
  keyed.rows.columns.resize(table().n_outputs);
  for (std::uint32_t k = 0; k < table().n_outputs; ++k) keyed.rows.columns[k].port = &table().outputs[k];
  return keyed;
}

bool Keyed::take(std::uint32_t key, KeyedRows& keyed) {
  Rows& rows = keyed.rows;
  std::vector<void*> to(rows.columns.size());
  for (std::size_t k = 0; k < to.size(); ++k) {
    rows.columns[k].reserve(rows.columns[k].size + 1);
    to[k] = rows.columns[k].value(rows.columns[k].size);
  }
  if (table().pop(states_.block(), to.data(), out_present_.data()) != 1) return false;
  for (std::size_t k = 0; k < to.size(); ++k) {
    Column& column = rows.columns[k];
    if (column.port->always == 0) {
      if (out_present_[k] == 0) continue;
      column.at.push_back(written_);
    }
    ++column.size;
  }
  if (states_.may_wait()) waiting_.take(key);
  keyed.keys.push_back(key);
  ++rows.count;
  ++written_;
  return true;
}

std::int64_t Keyed::run(const Cycles& cycles, const std::vector<std::string>& texts, const std::int64_t* key_of,
                        KeyedRows& rows, const std::function<bool()>& interrupted) {
  constexpr std::int64_t cycles_between_looks = 4096;
  constexpr std::uint32_t unseen = UINT32_MAX;
  std::vector<std::uint32_t> numbers(texts.size(), unseen);
  std::vector<const void*> in(table().n_inputs);
  std::vector<std::uint8_t> present(table().n_inputs);
  for (std::int64_t i = 0; i < cycles.count; ++i) {
    if (i % cycles_between_looks == cycles_between_looks - 1 && interrupted()) return i;
    std::uint32_t& key = numbers[static_cast<std::size_t>(key_of[i])];
    if (key == unseen) key = keys_.number(texts[static_cast<std::size_t>(key_of[i])]);
    rml_header& header = states_.enter(key);
    check(header, key);
    for (std::uint32_t k = 0; k < table().n_inputs; ++k) {
      const rml_port& port = table().inputs[k];
      const std::uint64_t bytes = port.elements * rt::dtype_bytes(port.dtype);
      in[k] = static_cast<const char*>(cycles.elements[k]) + static_cast<std::uint64_t>(i) * bytes;
      present[k] = cycles.present[k] == nullptr ? 1 : cycles.present[k][i];
    }
    table().push(states_.block(), in.data(), present.data());
    if (states_.may_wait() && header.fault == RML_OK) waiting_.add(key, read_);
    ++read_;
    while (take(key, rows)) {
    }
    check(header, key);
  }
  return cycles.count;
}

std::int64_t Keyed::finish(KeyedRows& rows, std::string& why) {
  for (std::uint32_t key = 0; states_.may_wait() && key < states_.size(); ++key) {
    if (!waiting_.first(key)) continue;
    const rml_header& header = states_.enter(key);
    table().finish(states_.block());
    check(header, key);
  }
  std::int64_t unknown = 0;
  waiting_.in_order([&](std::uint32_t key) {
    const rml_header& header = states_.enter(key);
    if (take(key, rows)) return true;
    if (unknown == 0) why = "key '" + text(key) + "': " + rt::undetermined_text(table(), header);
    unknown += header.pushed - header.popped;
    return false;
  });
  return unknown;
}

}  // namespace rml::python
