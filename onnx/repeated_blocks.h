// Blocks of equations that come again, with other tensors, become a node that is called:
//
//   a = relu(conv(x, w1) + b1);  y = a + x;            node block(x, w, b) -> (y) …
//   c = relu(conv(y, w2) + b2);  z = c + y;            y = block(x, w1, b1);  z = block(y, w2, b2);
//
// A block begins and ends with operators of the model, is at least five equations long, and one or two of its values
// are used outside. Blocks come first that save most equations, less what calls of them pass from one to the other.
// Time grows with equations, not with their square.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "onnx/builder.h"

namespace rml::onnx {

// Replaces blocks of `main`; returns the nodes, in their order. `constants` are the program's, as "const NAME: TYPE =
// …"; fresh_node returns a name for a node near the one wanted.
std::vector<Scope> take_out_repeated_blocks(Scope& main, const std::vector<std::string>& constants,
                                            const std::function<std::string(const std::string&)>& fresh_node);

}  // namespace rml::onnx
