// Differentiation of one node (see differentiate.h), and what the nodes share while it goes on.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "semantics/checked.h"
#include "semantics/differentiate_syntax.h"

namespace rml {

// What is to be differentiated: a node, where its dtype variables stand for floats, which of its
// outputs have adjoints, and with what its parameters move.
struct DerivativeKey {
  NodeId node;
  std::vector<bool> float_variables;  // by variable of its dtype scheme
  std::vector<bool> outputs;
  NodeId optimizer;  // invalid: adjoints are added as they are
  std::size_t rates = 0;
  friend auto operator<=>(const DerivativeKey&, const DerivativeKey&) = default;
};

// The node that does it. Its inputs: those of the original, `bp`, an adjoint for each output in
// `adjoints`, the optimizer's arguments. Its outputs: those of the original, then `extras`. Where
// outputs have clocks that need not be related, there is a `bp`, and arguments, for each.
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

class Differentiation {
 public:
  Differentiation(Program& program, Diagnostics& diagnostics) : program_(program), diagnostics_(diagnostics) {
    program_.written = program_.exprs.size();
  }

  // One round: expands what can be expanded now. Whether anything changed.
  bool round();

  const Derivative& derive(const DerivativeKey& key);
  NodeId add(ast::Node node);
  std::string fresh_name(const std::string& base);  // of a node that is made
  // The key with which a call of `node` outside every derived node asks for it.
  DerivativeKey outermost(NodeId node) const;

  Program& program() { return program_; }
  const Checked& checked() const { return checked_; }
  Diagnostics& diagnostics() { return diagnostics_; }
  // Whether a node, or one it calls, has a `param`.
  bool has_parameters(NodeId node);
  // Checks the program as it is; the tables are those of checked().
  void check();
  // In the order in which they were made, callees first.
  const std::vector<NodeId>& made() const { return made_; }

 private:
  bool sound(NodeId node) const;
  void expand(const DiffCall& call);
  std::vector<std::size_t> zero_adjoints(const ast::Call& call, std::size_t first, DerivativeKey& key) const;
  void fail(const DiffCall& call);
  bool is_pure(ExprId e) const;
  bool find_written(const DerivativeKey& key, Derivative& out);

  Program& program_;
  Diagnostics& diagnostics_;
  Checked checked_;
  std::map<DerivativeKey, Derivative> derivatives_;
  std::map<NodeId, bool> parameters_;
  std::map<std::string, std::uint32_t> variants_;
  std::vector<NodeId> made_;
};

// The root of a clock: a clock variable of the node.
std::uint32_t root_of(const ClockedNode& node, ClockTermId term);

// Names for new variables of a node: none that it has, or means something by.
class FreshNames {
 public:
  FreshNames(Program& program, const ast::Node& node);
  Symbol operator()(const std::string& base);

 private:
  Program& program_;
  std::set<Symbol> taken_;
};

// Whether a dtype term of `node` is, or may be, a float; `floats` says it of its scheme's variables.
bool is_float(const TypedNode& node, TypeTerm term, const std::vector<bool>& floats);
std::vector<bool> possible_floats(const TypeScheme& scheme);

// Makes the derived node, under `name`; `out` gets its interface.
ast::Node derive_node(Differentiation& owner, const DerivativeKey& key, const std::string& name, Derivative& out);

}  // namespace rml
