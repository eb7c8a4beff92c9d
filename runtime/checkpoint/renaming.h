// Renames the tensors of a file to the names of the program.
//
// Problem: memories are identified by their variables, and variables of a program get renamed.
// Method: the user gives OLD=NEW (--map) for a variable, a parameter, an instance with all its
// contents, or a pattern; the text that each `*` of OLD stands for replaces the `*` of NEW.
// Remaining memories are found by matching.h. States of older versions list no places, only the
// memories of each instance in the order of the program. If an instance has the same number of
// memories as in the file, the common names in the same order, and the same kinds and types
// throughout, the others are taken to correspond by position.
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

// Throws Failure with status 2 if a text is not of the form OLD=NEW.
std::vector<Renamed> parse_map(const std::vector<std::string>& texts);

// The new name. An entry without a pattern has precedence, then the patterns: "before two.x 2"
// becomes "before one.x 2" by two=one. Throws Failure if the patterns, or one of them in several
// ways, give different names.
std::string by_map(const std::string& name, const std::vector<Renamed>& map);
// True if the map renames this name.
bool is_mapped(const std::string& name, const std::vector<Renamed>& map);
// Throws Failure if an entry of the map fits none of the names of `file`.
void check_map(const std::vector<Renamed>& map, const std::vector<std::string>& names, const std::string& file);
// The new name if the list contains the whole name, otherwise the name itself.
std::string by_list(const std::string& name, const std::vector<Renamed>& list);

// A memory as a state lists it.
struct NamedMemory {
  std::string instance, name;
  bool is_parameter = false;
  // Parts of the memory's description (see matching.h); empty in an older state.
  std::string place = {}, within = {}, content = {};
  std::string type = {};  // type of the memory's value; empty: it has no value in the file
};
using NamedMemories = std::vector<NamedMemory>;

// The memories that a state of the program lists, each once, in the order of the program.
NamedMemories named_memories(const rml_program& program);
// The first origin of each name, without memories whose value is constant.
std::vector<const rml_origin*> named_origins(const rml_program& program);

// For a state that lists no places: the renamings of memories in `file` that have other names in
// the program. tensors: the tensors of the file.
std::vector<Renamed> by_place(const rml_program& program, const NamedMemories& file, const Safetensors& tensors);

// Lines that report the renamings.
std::vector<std::string> told(const std::string& file, const std::vector<Renamed>& by_place);

// Throws Failure if two tensors would then have the same name.
void rename_tensors(Safetensors& content, const std::string& file, const std::function<std::string(std::string)>& to);

}  // namespace rml::rt
