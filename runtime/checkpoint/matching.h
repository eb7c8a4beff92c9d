// Finds for each memory of a program the corresponding memory of a file, even if equations were
// exchanged, renamed or added.
//
// Problem: paths number the instances of one node in the order of the source. After two equations
// were exchanged, the same paths belong to other instances. Method: a state lists for each memory
// its place, which names the variable that the equation with the call defines, and a number for
// the value that it computes (semantics/time/places.h).
//
//   1. A name that the user has mapped is taken as the user says.
//   2. Memories with the same place correspond, unless the numbers say that another memory of the
//      file computes this value. If the place has a generated name, the number decides. Otherwise
//      the names contradict the equations, and neither memory is used.
//   3. Memories with the same number correspond, if the number is unique on both sides and both
//      are in instances of the same nodes.
//   4. Remaining calls within one equation correspond, if each side has exactly one. Remaining
//      renamed memories correspond, if each side has exactly one such memory: a parameter of the
//      same type in instances of the same nodes, or a memory with the same number.
//
// Remaining memories of the file that have a name of the program get another name, so that they
// are reported as missing or extra.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "runtime/checkpoint/renaming.h"

namespace rml::rt {

// A memory lists two numbers. Chooses the one that distinguishes inputs by name if no name is
// mapped, and the other one otherwise.
void choose_numbers(NamedMemories& memories, const std::vector<Renamed>& map);

struct Matched {
  std::vector<Renamed> all;      // memories with a different name in the program
  std::vector<Renamed> renamed;  // those of `all` that the user sees as renamed
};

// may_change: within an instance, the variable of a memory may have been renamed.
enum class Names : std::uint8_t { hold, may_change };

// file: memories under the names that the map gives them. mapped: for each of them, the map has
// renamed it.
Matched match(const NamedMemories& file, const std::vector<bool>& mapped, const NamedMemories& program, Names names);

}  // namespace rml::rt
