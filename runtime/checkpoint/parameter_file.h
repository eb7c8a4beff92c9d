// Parameters by path, from a checkpoint or any other safetensors file.
//
// Problem: a file has been written by another program, which may call the parameters otherwise, and need not have all.
// Method: what the user says of names (--map) is done first. A parameter is then the tensor of its path, or of its path
// within the node that the program is made of, as a program that calls this node has saved it; which of the two goes
// first is known where the file says whose state it is. Every parameter must be there, of its shape, unless the user
// asks for those that are (`partial`); then it is told which are and which are not. What else the file holds is of no
// interest. A float converts to a wider one, which is exact; anything else is refused.
//
// It is used when a program begins, and by the compiler, which makes initial values of the parameters.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "runtime/checkpoint/renaming.h"

namespace rml::rt {

struct ParameterSource {
  std::string file;
  std::vector<std::string> map;  // OLD=NEW
  bool partial = false;
};

struct LoadedParameters {
  struct Given {
    const rml_parameter* to;
    std::string_view elements;  // of its type
  };
  std::vector<Given> given;       // in the order of the program
  std::vector<std::string> told;  // what was found and what was not, in lines; of `partial` alone

  std::string bytes;  // of the file
  std::deque<std::vector<char>> widened;
};

// `entry` is the node of the program; of rows of one path, which are adjacent, the first is given. memories: those of
// the program, by which a state's are found where paths have changed (matching.h). Throws Failure that names what is
// missing or does not fit.
void read_parameters(const ParameterSource& source, const std::string& entry, const NamedMemories& memories,
                     std::span<const rml_parameter> wanted, LoadedParameters& to);

}  // namespace rml::rt
