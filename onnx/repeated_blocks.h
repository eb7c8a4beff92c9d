// Finds blocks of equations that occur several times with different tensors, and replaces them by
// calls of a new node:
//
//   a = relu(conv(x, w1) + b1);  y = a + x;            node block(x, w, b) -> (y) …
//   c = relu(conv(y, w2) + b2);  z = c + y;            y = block(x, w1, b1);  z = block(y, w2, b2);
//
// A block begins and ends at operators of the model, has at least five equations, and one or two
// of its values are used outside. The first choice is the block that saves most equations, minus
// the values that its calls pass. The time grows with the number of equations, not with its
// square.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "onnx/scope.h"

namespace rml::onnx {

// Replaces blocks in `main` and returns the new nodes in order. `constants` are the constants of
// the program, in the form "const NAME: TYPE = …". `fresh_node` returns a free name for a node,
// near the wanted one.
std::vector<Scope> take_out_repeated_blocks(Scope& main, const std::vector<std::string>& constants,
                                            const std::function<std::string(const std::string&)>& fresh_node);

}  // namespace rml::onnx
