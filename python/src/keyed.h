// A running node with a separate state for each key, for Python. Only one thread may use it at a
// time. After a cycle has failed, every call throws the same RunFault until states are loaded.
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

// Rows in the order in which they became known, and the number of the key of each row. In the
// columns, a cycle is the position of a row.
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
  // Sets the initial parameters of every new key. Call it before the first key occurs.
  std::vector<std::string> load_parameters(const rt::ParameterSource& source);

  // Returns the states of all keys, in the format of the command.
  std::string save();
  // Replaces the states of all keys. If this fails, they stay as they are.
  void load(const std::string& name, std::string bytes, const std::vector<std::string>& map);

  // push() computes one cycle of a key, which reads in(). Then row() moves the next known row to
  // out(), and returns false if there is none. Both throw RunFault.
  rt::Row& in() { return in_; }
  rt::Row& out() { return out_; }
  void push(const std::string& key);
  bool row();

  // Computes many cycles, and appends their rows to `rows`. key_of: for each cycle the number of
  // its key among `texts`. Returns the number of cycles that were read. Throws RunFault.
  std::int64_t run(const Cycles& cycles, const std::vector<std::string>& texts, const std::int64_t* key_of,
                   KeyedRows& rows, const std::function<bool()>& interrupted);
  // Ends the input of all keys. Returns the number of rows that stay unknown, and in `why` the
  // reason for the first ones.
  std::int64_t finish(KeyedRows& rows, std::string& why);
  KeyedRows no_rows() const;

  const Node& node() const { return *node_; }
  std::uint32_t size() const { return streams_->states.size(); }
  std::string text(std::uint32_t key) const { return streams_->keys.text(key); }
  // True during a call; another call then throws Busy.
  std::atomic<bool>& busy() { return busy_; }

 private:
  // The keys with their states and waiting rows, and the numbers of rows that were read and
  // written.
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
  std::uint32_t key_ = 0;  // the key of the last push
  std::vector<std::uint8_t> out_present_;
  std::atomic<bool> busy_{false};
};

}  // namespace rml::python
