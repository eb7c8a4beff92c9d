// Generates random programs that are correct by construction: well typed, well clocked, and
// productive if their segment ends become true, which the random inputs ensure.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "semantics/reference/chronogram.h"

namespace rml::fuzz {

struct GeneratedProgram {
  std::string source;  // source text; it has a node main
  Chronogram inputs;   // inputs, one row for each, in order
  std::int64_t cycles = 0;
};

GeneratedProgram generate_program(std::uint64_t seed);

// Applications of operators of the table (draw_operation.h) to inputs and to each other, without
// recurrences. The drawn operators are appended to `drawn` unless it is null.
GeneratedProgram generate_operations(std::uint64_t seed, std::vector<std::string>* drawn = nullptr);

// The node f is an application of an operator that has a derivative, and g is its gradient by
// `diff f`. The nodes `first` and `second` compute f, g and their gradients, and both have the
// inputs of the program. The operator is stored in `drawn` unless it is null.
GeneratedProgram generate_derivatives(std::uint64_t seed, std::string* drawn = nullptr);

// Random elements of a type, most of them small.
Tensor random_tensor(std::mt19937_64&, DType, const Shape&);
std::string type_text(DType, const Shape&);

}  // namespace rml::fuzz
