// A node that runs with an instance for each key: its states and its rows. One thread at a time uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "python/src/instance.h"
#include "runtime/keys/key_states.h"
#include "runtime/keys/key_table.h"
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

  // key_of: for each cycle the number of a text. Returns how many cycles were read. Rows are added. Throws RunFault.
  std::int64_t run(const Cycles& cycles, const std::vector<std::string>& texts, const std::int64_t* key_of,
                   KeyedRows& rows, const std::function<bool()>& interrupted);
  // Nothing follows. Returns how many rows nobody will know, and why the first ones will not be.
  std::int64_t finish(KeyedRows& rows, std::string& why);
  KeyedRows no_rows() const;

  std::uint32_t size() const { return states_.size(); }
  std::string text(std::uint32_t key) const { return std::string(keys_.text(key)); }
  // While a call is at work, another one throws Busy.
  std::atomic<bool>& busy() { return busy_; }

 private:
  void check(const rml_header& header, std::uint32_t key) const;
  bool take(std::uint32_t key, KeyedRows& rows);

  std::shared_ptr<const Node> node_;
  rt::Memory memory_;
  rt::KeyTable keys_;
  rt::GivenParameters given_;
  rt::KeyStates states_;
  rt::WaitingRows waiting_;
  std::int64_t read_ = 0, written_ = 0;
  std::vector<std::uint8_t> out_present_;
  std::atomic<bool> busy_{false};
};

}  // namespace rml::python
