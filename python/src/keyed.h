// A node that runs with an instance for each key: its states and its rows. One thread at a time uses it.
//
// Once a cycle has failed, every call says so, until states are loaded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "python/src/instance.h"
#include "runtime/keys/key_states.h"
#include "runtime/keys/keys.h"
#include "runtime/keys/waiting_rows.h"

namespace rml::python {

// Rows in the order in which they became known, with the number of the key of each. Cycles of columns are places among
// the rows.
struct KeyedRows {
  Rows rows;
  std::vector<std::int64_t> keys;
};

class Keyed {
 public:
  Keyed(std::shared_ptr<const Node> node, std::uint64_t seed, std::int64_t horizon,
        const std::vector<std::string>& shared);
  Keyed(const Keyed&) = delete;
  Keyed& operator=(const Keyed&) = delete;

  const rml_program& table() const { return node_->table(); }
  // Every new key begins with these. Before the first one.
  std::vector<std::string> load_parameters(const rt::ParameterSource& source);

  // The states of all keys, as the command saves them.
  std::string save();
  // In the place of those there are, which stay if that fails.
  void load(const std::string& name, std::string bytes, const std::vector<std::string>& map);

  // One cycle of a key, which reads in(). Then row() as often as there are rows, each of which lies in out(). Throws
  // RunFault.
  rt::Row& in() { return in_; }
  rt::Row& out() { return out_; }
  void push(const std::string& key);
  bool row();

  // key_of: for each cycle the number of a text. Returns how many cycles were read. Rows are added. Throws RunFault.
  std::int64_t run(const Cycles& cycles, const std::vector<std::string>& texts, const std::int64_t* key_of,
                   KeyedRows& rows, const std::function<bool()>& interrupted);
  // Nothing follows. Returns how many rows will never be known, and why the first ones will not be.
  std::int64_t finish(KeyedRows& rows, std::string& why);
  KeyedRows no_rows() const;

  const Node& node() const { return *node_; }
  std::uint32_t size() const { return streams_->states.size(); }
  std::string text(std::uint32_t key) const { return streams_->keys.text(key); }
  // While a call is at work, another one throws Busy.
  std::atomic<bool>& busy() { return busy_; }

 private:
  // What all keys are, and where their rows stand.
  struct Streams {
    Streams(const rml_program& program, rt::Memory& memory, std::uint64_t seed, std::int64_t horizon)
        : seed(seed), keys(memory), states(program, keys, memory, seed, horizon) {}
    std::uint64_t seed;
    rt::Keys keys;
    rt::KeyStates states;
    rt::WaitingRows waiting;
    std::int64_t read = 0, written = 0;
  };

  std::unique_ptr<Streams> begin(std::uint64_t seed, rt::GivenParameters& given, std::vector<std::string>* told);
  void check_none_failed() const;
  void check(const rml_header& header, std::uint32_t key);
  void push(std::uint32_t key, const void* const* in, const std::uint8_t* present);
  bool pop(std::uint32_t key, void* const* to, std::uint8_t* present);
  bool take(std::uint32_t key, KeyedRows& rows);

  std::shared_ptr<const Node> node_;
  const std::int64_t horizon_;
  const std::vector<std::string> shared_;
  std::optional<rt::ParameterSource> parameters_;
  rt::Memory memory_;
  rt::GivenParameters given_;
  std::unique_ptr<Streams> streams_;
  std::optional<RunFault> failed_;
  rt::Row in_, out_;
  std::uint32_t key_ = 0;  // of the last push
  std::vector<std::uint8_t> out_present_;
  std::atomic<bool> busy_{false};
};

}  // namespace rml::python
