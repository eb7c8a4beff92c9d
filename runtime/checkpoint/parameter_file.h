// Reads parameters by path, from a checkpoint or any other safetensors file.
//
// Problem: another program may have written the file; it may use other names and may not contain
// every parameter. Method: the renamings of the user (--map) are applied first. A parameter is
// then the tensor of its path, or the tensor of its path within the node of this program, as
// saved by a program that calls this node. The metadata of a state says which of the two to try
// first. Every parameter must be present with its shape, unless the user asks for a partial load
// (`partial`); then the loaded and the missing ones are reported. Other tensors of the file are
// ignored. A float converts to a wider float, which is exact, and to a narrower one if the user
// asks for it (`cast`); all other conversions are refused.
//
// It is used when a program starts, and by the compiler, which turns the values into initial
// values.
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
  std::vector<std::string> map;  // renamings, as lines OLD=NEW
  bool partial = false;
  bool cast = false;  // round floats to narrower types
};

struct LoadedParameters {
  struct Given {
    const rml_parameter* to;
    std::string_view elements;  // elements in the type of the parameter
  };
  std::vector<Given> given;  // parameters in the order of the program
  // lines that report the loaded and the missing parameters, if `partial`, and rounded ones
  std::vector<std::string> told;

  std::string bytes;  // contents of the file
  std::deque<std::vector<char>> converted;
};

// Reads the wanted parameters. entry: the node of the program. wanted: rows of one path are
// adjacent, and only the first of them is given. memories: those of the program, to find
// parameters of a state whose paths have changed (matching.h). Throws Failure that names the
// parameters that are missing or do not fit.
void read_parameters(const ParameterSource& source, const std::string& entry, const NamedMemories& memories,
                     std::span<const rml_parameter> wanted, LoadedParameters& to);

}  // namespace rml::rt
