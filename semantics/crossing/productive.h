// Rows that no input makes known.
//
// A row can become known if some way through the automaton leads from where it is asked for to where it asks nothing
// more. Row n is one of the states that can be reached with n edges; if it can become known from none of them, no input
// makes it known.
#pragma once

#include <optional>
#include <vector>

#include "semantics/core/core.h"
#include "semantics/core/dependence.h"
#include "semantics/crossing/explore.h"

namespace rml {

struct UnknownRow {
  std::size_t row = 0;
  std::vector<PortId> asks;  // what it asks that does not come, there and later; in the order in which it does
};

// The first of them. Nothing: there is none, or there are too many ways.
std::optional<UnknownRow> find_unknown_row(CrossingAutomaton&);

// Of a core: the first row that no input makes known, and the posts that it asks for; and whether a row may need a
// value that needs itself by way of other instants. `all`: nothing was too large to be followed.
struct Knowable {
  std::optional<std::size_t> unknown_row;
  std::vector<ValueId> posts;
  bool knot = false;
  bool all = true;
};
Knowable find_unknown_rows(const Core&);

// False: in no run does the literal ever hold, where its condition is present.
bool can_hold(const Core&, Literal);

}  // namespace rml
