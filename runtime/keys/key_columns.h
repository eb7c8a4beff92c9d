// The states of the keys of a program of cells alone, memory by memory: a file has a tensor for each memory, with an
// axis of keys before its own.
//
//   each NAME            the values of a memory, by the name that it has in the state of one instance
//   begun PATH           of a parameter: whether its first value has been looked at; absent where it has for all keys
//   cycles of keys       how many rows each has had
//   keys, ends of keys   their texts, one behind the other
//   given PATH           of a parameter: what new keys begin with, where that is not the program's own value
//   input NAME, cycles   nothing, as in the state of one instance that waits for nothing
//
// So what all keys have alike is said once, and a state is copied, not spelled. It is written some keys at a time:
// beside the states there is never more than a few megabytes of them.
#pragma once

#include <string>
#include <vector>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/whole_file.h"
#include "runtime/keys/key_states.h"
#include "runtime/keys/keys.h"

namespace rml::rt {

// False, and nothing was put, where columns do not tell all that the keys have to remember: rows may wait, or something
// was given to a parameter that was not looked at. given: what new keys begin with. metadata: of the run, and how many
// keys there are. Enters the keys one after the other.
bool write_columns(const rml_program& program, const Keys& keys, KeyStates& states, const StateTensors& given,
                   Metadata metadata, const PutBytes& put);

bool has_columns(const CheckpointIn& saved);
// As restore_keys, but for what new keys begin with. renamed: what is called otherwise than in the file, by its place.
void restore_columns(const CheckpointIn& saved, const rml_program& program, const std::vector<Renamed>& map, Keys& keys,
                     KeyStates& states, GivenParameters& given, std::vector<Renamed>& renamed);

}  // namespace rml::rt
