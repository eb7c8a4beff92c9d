// Random programs that are right by construction: well typed, well clocked, and productive
// whenever their segment ends come true, which the random inputs see to.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "semantics/reference/chronogram.h"

namespace rml::fuzz {

struct GeneratedProgram {
  std::string source;  // node main
  Chronogram inputs;   // a row per input, in order
  std::int64_t cycles = 0;
};

GeneratedProgram generate_program(std::uint64_t seed);

// Applications of operators of the table (draw_operation.h) to inputs and to each other; nothing
// recurs. `drawn`, if not null, is told the operators.
GeneratedProgram generate_operations(std::uint64_t seed, std::vector<std::string>* drawn = nullptr);

// An application of an operator that has a derivative, as the node f; the nodes g, its gradient by
// `diff f`, first and second, which compute f, g and their gradients. The inputs are those of first and
// second. `drawn`, if not null, is told the operator.
GeneratedProgram generate_derivatives(std::uint64_t seed, std::string* drawn = nullptr);

// Elements of a type, small ones for the most part.
Tensor random_tensor(std::mt19937_64&, DType, const Shape&);
std::string type_text(DType, const Shape&);

}  // namespace rml::fuzz
