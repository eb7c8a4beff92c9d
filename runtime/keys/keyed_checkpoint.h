// The states of all keys in one file: a checkpoint whose tensors are the checkpoints of the keys, one behind the other.
//
// So the state of a key is what a run of its rows alone would have saved, and is checked and read in the same way; the
// outer file says where the streams of the run stand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/keys/key_states.h"
#include "runtime/keys/keys.h"
#include "runtime/keys/waiting_rows.h"

namespace rml::rt {

struct KeyedStreams {
  std::uint64_t seed = 0;
  std::int64_t rows_read = 0, rows_written = 0;
};

class KeyedCheckpointOut {
 public:
  // Between two cycles. Enters the keys one after the other. Throws Failure where there is no memory for it.
  KeyedCheckpointOut(const rml_program& program, const Keys& keys, KeyStates& states, const WaitingRows& waiting,
                     const KeyedStreams& streams, const RunRecord& run, const Memory& memory);
  const std::vector<std::string_view>& pieces() const { return pieces_; }

 private:
  std::vector<std::string> states_;
  std::string texts_, head_;
  std::vector<std::int64_t> text_ends_, state_ends_, waiting_, waiting_ends_;
  std::vector<TensorOut> tensors_;
  std::vector<std::string_view> pieces_;
};

// Into a run that has not seen any key. What is to be told of it, in lines. Throws Failure.
std::vector<std::string> restore_keys(const CheckpointIn& saved, const rml_program& program,
                                      const std::vector<Renamed>& map, Keys& keys, KeyStates& states,
                                      WaitingRows& waiting, GivenParameters& given);

}  // namespace rml::rt
