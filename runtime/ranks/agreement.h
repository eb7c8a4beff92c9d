// Before anything is computed, ranks make sure that they run the same: what differs is refused, by the name of the rank
// and of the thing, by all ranks alike.
#pragma once

#include <string>
#include <vector>

#include "runtime/ranks/transport.h"

namespace rml::rt {

// Something that must be the same on all ranks, as messages call it, and as they show it.
struct Fact {
  std::string name, value;
};

// Throws LostRank, the same on every rank, if the facts of one are not those of rank 0.
void agree(Transport& transport, const std::vector<Fact>& facts);
// Returns when all ranks have come here.
inline void meet(Transport& transport) { agree(transport, {}); }

}  // namespace rml::rt
