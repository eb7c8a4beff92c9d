// Rows that no input makes known.
//
// A row can become known if some path through the automaton leads from its instant to an instant
// at which it needs no port any more. Row n is at one of the states reached by n edges. If it can
// become known from none of them, no input makes it known.
#pragma once

#include <optional>
#include <vector>

#include "semantics/core/core.h"
#include "semantics/core/dependence.h"
#include "semantics/crossing/explore.h"

namespace rml {

struct UnknownRow {
  std::size_t row = 0;
  std::vector<PortId> asks;  // the needed ports that never become known, in the order in which they are needed
};

// The first row that never becomes known. Nothing if there is none, or if there are too many paths.
std::optional<UnknownRow> find_unknown_row(CrossingAutomaton&);

// For a core: the first row that no input makes known, and the posts that it needs; whether a row
// may need a value that needs itself through other instants (`knot`). `all`: false if some part
// was too large to explore.
struct Knowable {
  std::optional<std::size_t> unknown_row;
  std::vector<ValueId> posts;
  bool knot = false;
  bool all = true;
};
Knowable find_unknown_rows(const Core&);

// False if there is no run in which the literal holds at some instant of its clock.
bool can_hold(const Core&, Literal);

}  // namespace rml
