// `-D NAME=VALUE` gives a value to a constant, or to an input of the entry, before names are resolved.
//
// For a constant, VALUE replaces the expression in the source. It is therefore checked exactly as if it were written
// there. For an input, the entry is copied. In the copy the input is a variable with the equation `NAME = VALUE`. Calls
// of the original node keep all inputs. A node with static arguments can therefore be run by itself.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/ast.h"
#include "frontend/diagnostic.h"
#include "frontend/parse.h"
#include "frontend/source.h"

namespace rml {

// `node` is a copy of the node `of` in which some inputs are variables. No scope contains the copy.
struct SpecialisedNode {
  NodeId node, of;
  std::vector<std::pair<Symbol, std::string>> values;  // the inputs that get values, and the texts of these values

  // Returns the text of the value of an input; null if -D gives it none.
  const std::string* value(Symbol input) const;
};

struct DefinedConstants {
  bool good = true;  // false after E0902 was reported
  std::optional<SpecialisedNode> entry;
};

// Returns the node `wanted`. If `wanted` is empty, returns `main`, or the only node of the file. Returns nothing if
// there is no such node.
std::optional<NodeId> choose_entry(const Program& program, const std::string& wanted);

// NAME is a constant of the main file, a constant of a file that it imports by path, or q.NAME
// with the qualifier q of an import. If there is no such constant, NAME is an input of the node
// choose_entry(program, entry). Each definition is registered as a source of its own, named
// "command line", so that errors in VALUE have a position. Reports E0902 for each definition that
// fails.
DefinedConstants define_constants(Program& program, const std::string& entry,
                                  const std::vector<std::string>& definitions, const ParseOptions& options,
                                  SourceMap& sources, Diagnostics& diagnostics);

// The constants with these names. Reports E0201 for each name without a constant.
std::vector<ConstId> find_constants(const Program& program, const std::vector<std::string>& names, const char* purpose,
                                    Diagnostics& diagnostics);

}  // namespace rml
