// Before anything is computed, ranks verify that they run the same program with the same options
// and files. Any difference is refused by all ranks with the same message, which names the rank
// and the fact.
#pragma once

#include <string>
#include <vector>

#include "runtime/ranks/transport.h"

namespace rml::rt {

// A fact that must be equal on all ranks: its name in messages, and its value.
struct Fact {
  std::string name, value;
};

// Throws LostRank, with the same message on every rank, if the facts of a rank differ from those
// of rank 0.
void agree(Transport& transport, const std::vector<Fact>& facts);
// Returns when all ranks have called it.
inline void meet(Transport& transport) { agree(transport, {}); }

}  // namespace rml::rt
