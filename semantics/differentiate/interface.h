// The key of a derived node, and the interface of the node that was made for it.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include "semantics/check/checked.h"

namespace rml {

// The key: the node, which of its dtype variables are floats, which of its outputs have adjoints,
// and how its parameters change.
//
// Outputs whose adjoints are present at the same cycles form a group with one activity. Groups
// keep apart activities that the caller computes from each other: in `p, y = pair(x, p)`, the
// activity of p is computed by `pair` from that of y, so the two must not be joined.
struct DerivativeKey {
  static constexpr std::uint32_t no_adjoint = 0;
  NodeId node;
  std::vector<bool> float_variables;  // one per variable of its dtype scheme: true if it is a float type
  // By output: its group, counted from 1 in the order of outputs, or `no_adjoint`.
  std::vector<std::uint32_t> outputs;
  NodeId optimizer;  // the node that `diff[…]` names; invalid: adjoints are added as they are
  std::size_t rates = 0;
  NodeId step_sum = {};  // node that sums gradients over a step, if inputs are dealt, or invalid
  // The number of maps around this node within the differentiated code. A parameter that the
  // elements of such a map share changes by the sum of their gradients.
  std::uint32_t maps = 0;
  friend auto operator<=>(const DerivativeKey&, const DerivativeKey&) = default;
};

// The inputs of a derived node that describe steps, in this order: the number of micro-batches of
// a step, where micro-batches end, the position of a micro-batch in its step, where parameters
// change.
inline constexpr const char* step_inputs[] = {"per_step", "step_end", "step_at", "moves"};

// The derived node. Its inputs: those of the original; `bps`; an adjoint for each output in
// `adjoints`; the optimiser's arguments; with `step_sum`, the `step_inputs`. Its outputs: those
// of the original, then `extras`. If outputs have unrelated clocks, there are arguments for each
// of these clocks.
struct Derivative {
  // Activity of the adjoints of a group: a Boolean input on the root of the clocks of the group's
  // outputs.
  struct Bp {
    std::uint32_t root, group;
    friend bool operator==(const Bp&, const Bp&) = default;
  };
  struct Extra {
    enum Kind : std::uint8_t { activity, gradient, other } kind = other;
    std::uint32_t input = 0;
    // The activity of a gradient: the activity of the input `active_with` if that is given, else
    // `bps[bp]`.
    std::uint32_t active_with = no_input;
    std::uint32_t bp = 0;
  };
  static constexpr std::uint32_t no_input = UINT32_MAX;
  NodeId node;
  std::vector<std::uint32_t> roots;  // roots of the clocks of the outputs that have adjoints
  std::vector<Bp> bps;
  std::vector<std::uint32_t> adjoints;     // outputs that have adjoints
  std::vector<std::uint32_t> adjoint_bps;  // one per adjoint: position of its activity in `bps`
  std::vector<Extra> extras;               // an activity precedes the gradients it belongs to
  bool failed = false;                     // true after an error was reported
  bool written = false;                    // true if the user wrote the node

  // True if the caller needs extra k; `takes` says which gradients of inputs the caller uses.
  template <class F>
  bool needed(std::size_t k, F&& takes) const {
    if (extras[k].kind == Extra::gradient) return takes(extras[k].input);
    return extras[k].kind == Extra::activity && std::ranges::any_of(extras, [&](const Extra& e) {
             return e.kind == Extra::gradient && e.active_with == extras[k].input && takes(e.input);
           });
  }
};

// True if a dtype term is a float, or may be one; `floats` answers for the variables of its
// scheme.
bool is_float(TypeTerm term, const std::vector<bool>& floats);
std::vector<bool> possible_floats(const TypeScheme& scheme);

// The root of a clock: a clock variable of the node.
std::uint32_t root_of(const ClockedNode& node, ClockTermId term);

// The samplings from the root of a clock down to the clock, in this order.
std::vector<const ClockTerm*> samplings_of(const ClockedNode& node, ClockTermId clock);

}  // namespace rml
