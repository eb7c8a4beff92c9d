// Saves the states of all keys memory by memory, for programs whose state consists of cells only.
// The file has one tensor for each memory, with an axis of keys in front.
//
//   each NAME            the values of a memory; NAME is its name in the state of one instance
//   begun PATH           by key: the first value of a parameter was read; absent if so for all keys
//   cycles of keys       the number of rows that each key has had
//   keys, ends of keys   the texts of the keys, concatenated, and where each one ends
//   given PATH           the first value of a parameter in new keys, if not the program's own
//   input NAME, cycles   empty, as in the state of one instance without waiting rows
//
// Names, types and shapes are thus stored once for all keys, and values are copied as bytes. The
// file is written a few keys at a time, so saving needs only a few megabytes beside the states.
#pragma once

#include <string>
#include <vector>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/whole_file.h"
#include "runtime/keys/key_states.h"
#include "runtime/keys/keys.h"

namespace rml::rt {

// Writes the states as columns. Returns false, without any output, if columns cannot represent
// them: rows may wait, or a value was given to a parameter that has not read it yet. given: the
// first values for new keys. metadata: describes the run and the number of keys. Enters each key
// once.
bool write_columns(const rml_program& program, const Keys& keys, KeyStates& states, const StateTensors& given,
                   Metadata metadata, const PutBytes& put);

bool has_columns(const CheckpointIn& saved);
// As restore_keys, except for the first values of new keys. renamed: receives the memories that
// were found under another name than in the file.
void restore_columns(const CheckpointIn& saved, const rml_program& program, const std::vector<Renamed>& map, Keys& keys,
                     KeyStates& states, GivenParameters& given, std::vector<Renamed>& renamed);

}  // namespace rml::rt
