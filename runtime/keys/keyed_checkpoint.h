// The states of all keys in one file. Of a program of cells alone they are columns (key_columns.h). Of any other, and
// where something was given to a parameter that are not in use looked at, they are checkpoints, one behind the other:
// the state of a key is what a run of its rows alone would have saved, and is checked and read in the same way. The
// file says where the streams of the run stand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/whole_file.h"
#include "runtime/keys/key_states.h"
#include "runtime/keys/keys.h"
#include "runtime/keys/waiting_rows.h"

namespace rml::rt {

struct KeyedStreams {
  std::uint64_t seed = 0;
  std::int64_t rows_read = 0, rows_written = 0;
};

// Between two cycles. Enters the keys one after the other. Throws Failure where there is no memory for it.
void save_keys(const rml_program& program, const Keys& keys, KeyStates& states, const WaitingRows& waiting,
               const KeyedStreams& streams, const RunRecord& run, const Memory& memory, const PutBytes& put);

// Into a run that has not seen any key. What is to be told of it, in lines. Throws Failure.
std::vector<std::string> restore_keys(const CheckpointIn& saved, const rml_program& program,
                                      const std::vector<Renamed>& map, Keys& keys, KeyStates& states,
                                      WaitingRows& waiting, GivenParameters& given);

}  // namespace rml::rt
