// What is asked of a derived node, and the interface that it got.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include "semantics/check/checked.h"

namespace rml {

// What is to be differentiated: a node, where its dtype variables stand for floats, which of its
// outputs have adjoints, and with what its parameters move.
struct DerivativeKey {
  NodeId node;
  std::vector<bool> float_variables;  // by variable of its dtype scheme
  std::vector<bool> outputs;
  NodeId optimizer;  // invalid: adjoints are added as they are
  std::size_t rates = 0;
  NodeId step_sum = {};    // adds gradients over a step, of a node with dealt inputs; invalid: each moves its parameter
  std::uint32_t maps = 0;  // within what is differentiated, around this node: a parameter that elements have together
                           // is moved by what all of them ask for
  friend auto operator<=>(const DerivativeKey&, const DerivativeKey&) = default;
};

// What a derived node is told of steps, in this order: how many micro-batches one has, where they end, where in a step
// they are, where parameters move.
inline constexpr const char* step_inputs[] = {"per_step", "step_end", "step_at", "moves"};

// The node that does it. Its inputs: those of the original, `bp`, an adjoint for each output in
// `adjoints`, the optimizer's arguments, with `step_sum` what it is told of steps. Its outputs: those of the original,
// then `extras`. Where outputs have clocks that need not be related, there is a `bp`, and arguments, for each.
struct Derivative {
  struct Extra {
    enum Kind : std::uint8_t { activity, gradient, other } kind = other;
    std::uint32_t input = 0;
    std::uint32_t active_with = no_input;  // of a gradient: the input whose activity is its own
  };
  static constexpr std::uint32_t no_input = UINT32_MAX;  // `bp`
  NodeId node;
  std::vector<std::uint32_t> roots;  // of the clocks of outputs: a `bp` for each, in this order
  std::vector<std::uint32_t> adjoints;
  std::vector<Extra> extras;  // an activity stands before the gradients that it belongs to
  bool failed = false;        // an error was reported
  bool written = false;       // by the user

  // Whether anyone needs extra k, given who takes the gradient of an input.
  template <class F>
  bool needed(std::size_t k, F&& takes) const {
    if (extras[k].kind == Extra::gradient) return takes(extras[k].input);
    return extras[k].kind == Extra::activity && std::ranges::any_of(extras, [&](const Extra& e) {
             return e.kind == Extra::gradient && e.active_with == extras[k].input && takes(e.input);
           });
  }
};

// Whether a dtype term is, or may be, a float; `floats` says it of the variables of its scheme.
bool is_float(TypeTerm term, const std::vector<bool>& floats);
std::vector<bool> possible_floats(const TypeScheme& scheme);

// The root of a clock: a clock variable of the node.
std::uint32_t root_of(const ClockedNode& node, ClockTermId term);

}  // namespace rml
