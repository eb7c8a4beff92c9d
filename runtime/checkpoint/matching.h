// Which memory of a file is which of the program, whatever has changed places, been renamed or got a sibling.
//
// Problem: paths number instances of one node in the order of the source. A program whose equations were exchanged has
// the same paths for other instances. Method: a state lists for each memory its place, which names the variable that
// the equation with the call defines, and a number for what it computes (semantics/time/places.h).
//
//   1. What the user has mapped is what the user says.
//   2. Memories of one place are one, unless the numbers say that another one of the file computes what this one does.
//      Where a rule has made the name, the number counts; elsewhere the names contradict the equations, and neither
//      holds.
//   3. Memories of one number are one, if no other has it and they are in instances of the same nodes.
//   4. Of calls within one equation that are left over: if there is one on each side. Of what was renamed: if nothing
//      else is left over that begins alike.
//
// What is left then under a name of the program gets another one: it is not in the file, or only there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "runtime/checkpoint/renaming.h"

namespace rml::rt {

// Whether the user says of this name what it is.
bool is_mapped(const std::string& name, const std::vector<Renamed>& map);

// A memory has two numbers, of which one counts: that which tells inputs apart by their names holds where no name is
// mapped.
void choose_numbers(NamedMemories& memories, const std::vector<Renamed>& map);

struct Matched {
  std::vector<Renamed> all;      // what has another name here
  std::vector<Renamed> renamed;  // of these, what the user sees under another name
};

// Whether a memory may have another variable's name than in the file, within its instance.
enum class Names : std::uint8_t { hold, may_change };

// file: by their names here as far as the user has mapped them, with `mapped` for each.
Matched match(const NamedMemories& file, const std::vector<bool>& mapped, const NamedMemories& program, Names names);

}  // namespace rml::rt
