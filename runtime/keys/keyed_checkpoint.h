// Saves and restores the states of all keys in one file. If the program has cells only, the file
// consists of columns (key_columns.h). Other programs get one checkpoint per key, concatenated;
// so does a run that gave a value to a parameter that has not read it yet. The checkpoint of a
// key equals the one that a run of this key's rows alone would save, and is read with the same
// checks. The file also records the positions in the streams of the run.
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

// Saves all keys between two cycles. more: tensors that belong to no key. Enters each key once.
// Throws Failure if there is no memory for it.
void save_keys(const rml_program& program, const Keys& keys, KeyStates& states, const WaitingRows& waiting,
               const KeyedStreams& streams, const RunRecord& run, const std::vector<TensorOut>& more,
               const Memory& memory, const PutBytes& put);

// Restores all keys into a run that has not seen any key. Returns the lines to be printed about
// renamed memories. Throws Failure.
std::vector<std::string> restore_keys(const CheckpointIn& saved, const rml_program& program,
                                      const std::vector<Renamed>& map, Keys& keys, KeyStates& states,
                                      WaitingRows& waiting, GivenParameters& given);

}  // namespace rml::rt
