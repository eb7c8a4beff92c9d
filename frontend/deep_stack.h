// How deep expressions may nest, and a stack that is deep enough for recursion over them.
#pragma once

namespace rml {

// Deeper nesting of expressions is reported (E0104). Every pass may recurse to this depth on the
// stack of run_with_deep_stack.
inline constexpr int max_nesting = 10000;

// Runs f on a thread whose stack is deep enough for max_nesting levels of recursion.
void run_with_deep_stack(void (*f)(void*), void* argument);

}  // namespace rml
