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
//
// Outputs whose adjoints are present at the same cycles form a group, which has one activity. Groups keep activities
// apart that the caller computes from each other: of `p, y = pair(x, p)` the activity of p is what `pair` makes of that
// of y, so the two must not be joined.
struct DerivativeKey {
  static constexpr std::uint32_t no_adjoint = 0;
  NodeId node;
  std::vector<bool> float_variables;   // by variable of its dtype scheme
  std::vector<std::uint32_t> outputs;  // by output: its group, counted from 1 in the order of outputs, or `no_adjoint`
  NodeId optimizer;                    // invalid: adjoints are added as they are
  std::size_t rates = 0;
  NodeId step_sum = {};    // adds gradients over a step, of a node with dealt inputs; invalid: each moves its parameter
  std::uint32_t maps = 0;  // within what is differentiated, around this node: a parameter that elements have together
                           // is moved by what all of them ask for
  friend auto operator<=>(const DerivativeKey&, const DerivativeKey&) = default;
};

// What a derived node is told of steps, in this order: how many micro-batches one has, where they end, where in a step
// they are, where parameters move.
inline constexpr const char* step_inputs[] = {"per_step", "step_end", "step_at", "moves"};

// The node that does it. Its inputs: those of the original, `bps`, an adjoint for each output in
// `adjoints`, the optimizer's arguments, with `step_sum` what it is told of steps. Its outputs: those of the original,
// then `extras`. Where outputs have clocks that need not be related, there are arguments for each.
struct Derivative {
  // Where the adjoints of a group are present: a Boolean input on the root of the clocks of its outputs.
  struct Bp {
    std::uint32_t root, group;
    friend bool operator==(const Bp&, const Bp&) = default;
  };
  struct Extra {
    enum Kind : std::uint8_t { activity, gradient, other } kind = other;
    std::uint32_t input = 0;
    // Where a gradient is present: where the activity of this input is true, or else where this one of `bps` is.
    std::uint32_t active_with = no_input;
    std::uint32_t bp = 0;
  };
  static constexpr std::uint32_t no_input = UINT32_MAX;
  NodeId node;
  std::vector<std::uint32_t> roots;  // of the clocks of outputs with adjoints
  std::vector<Bp> bps;
  std::vector<std::uint32_t> adjoints;     // outputs
  std::vector<std::uint32_t> adjoint_bps;  // by adjoint: its place in `bps`
  std::vector<Extra> extras;               // an activity stands before the gradients that it belongs to
  bool failed = false;                     // an error was reported
  bool written = false;                    // by the user

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

// The samplings between the root of a clock and it, in this order.
std::vector<const ClockTerm*> samplings_of(const ClockedNode& node, ClockTermId clock);

}  // namespace rml
