// What a program may grow to while it is compiled.
//
// A few lines can stand for more than any machine holds: thirty nodes that each call the one before twice are 2^30
// instances. Each bound has a name, which messages give and `--limit NAME=N` raises.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "semantics/values/type.h"

namespace rml {

struct Limits {
  std::uint64_t instances = 1'000'000;              // of nodes
  std::uint64_t calls = 1'000;                      // each within the one before
  std::uint64_t loops = 64;                         // iterations (map, fold, scan), likewise
  std::uint64_t equations = 3'000'000;              // once nodes are inlined, an operation each
  std::uint64_t elements = std::uint64_t{1} << 31;  // of one tensor
  std::uint64_t nodes = 200'000;                    // that functions and loops of an ONNX model insert
};

struct NamedLimit {
  std::string_view name;
  std::uint64_t Limits::* bound;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();  // that may be asked for
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
