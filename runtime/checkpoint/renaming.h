// What a file with tensors calls otherwise than the program does.
//
// Problem: memories are told by the variables that they are of, and variables of a program are renamed. Method: the
// user says OLD=NEW (--map), of a variable, a parameter, or an instance with all that is in it, or of all names that a
// pattern fits: what each `*` of OLD stands for takes the place of the `*` of NEW. What is left over is found as
// matching.h says. States of older versions list no places, only the memories of each instance in the order of the
// program: where as many are there, those of one name in one order and all of the same kinds and types, the others are
// those that have taken their place.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "runtime/checkpoint/safetensors.h"

namespace rml::rt {

struct Renamed {
  std::string old_name, new_name;
};

// Throws Failure with status 2 where one is not OLD=NEW.
std::vector<Renamed> parse_map(const std::vector<std::string>& texts);

// By the first one that fits and is no pattern, or else by the patterns: "before two.x 2" is "before one.x 2" by
// two=one. Throws Failure where patterns, or one in several ways, make different names of it.
std::string by_map(const std::string& name, const std::vector<Renamed>& map);
// Throws Failure: something of it fits none of the names, which are those of `file`.
void check_map(const std::vector<Renamed>& map, const std::vector<std::string>& names, const std::string& file);
// Names as a whole.
std::string by_list(const std::string& name, const std::vector<Renamed>& list);

// A memory of a state, as it lists them.
struct NamedMemory {
  std::string instance, name;
  bool is_parameter = false;
  std::string place = {}, within = {}, content = {};  // matching.h; empty: a state of an older version
  std::string type = {};                              // empty: it has no value in the file
};
using NamedMemories = std::vector<NamedMemory>;

// Those that a state of the program lists, each once, in the order of the program.
NamedMemories named_memories(const rml_program& program);
// Of each name the first; none that always has the same value.
std::vector<const rml_origin*> named_origins(const rml_program& program);

// Of a state that lists no places: what is in `file`, whose tensors are these, under a name that the program does not
// have, and what it is there.
std::vector<Renamed> by_place(const rml_program& program, const NamedMemories& file, const Safetensors& tensors);

// What is to be told of it, in lines.
std::vector<std::string> told(const std::string& file, const std::vector<Renamed>& by_place);

// Throws Failure: two tensors have one name then.
void rename_tensors(Safetensors& content, const std::string& file, const std::function<std::string(std::string)>& to);

}  // namespace rml::rt
