// Limits on the growth of a program during compilation.
//
// A few lines may expand beyond the memory of any machine: thirty nodes, each of which calls the
// previous one twice, are 2^30 instances. Each limit has a name, which messages show and
// `--limit NAME=N` raises.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "semantics/values/type.h"

namespace rml {

struct Limits {
  std::uint64_t instances = 1'000'000;              // instances of nodes
  std::uint64_t calls = 1'000;                      // nesting depth of calls
  std::uint64_t loops = 64;                         // nesting depth of iterations (map, fold, scan)
  std::uint64_t equations = 3'000'000;              // equations after inlining, with one operation each
  std::uint64_t elements = std::uint64_t{1} << 31;  // elements of a tensor
  std::uint64_t nodes = 200'000;                    // nodes that functions and loops of an ONNX model insert
};

struct NamedLimit {
  std::string_view name;
  std::uint64_t Limits::* bound;
  // Largest value that the user may set.
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};
inline constexpr NamedLimit limit_names[] = {
    {"instances", &Limits::instances},
    {"calls", &Limits::calls},
    {"loops", &Limits::loops},
    {"equations", &Limits::equations},
    {"elements", &Limits::elements, max_elements},
    {"nodes", &Limits::nodes},
};

}  // namespace rml
