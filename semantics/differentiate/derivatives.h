// The program under differentiation, and the nodes derived so far.
//
// A derived node is made at the first request and stored, so calls with equal keys share it.
// While it is made, it requests the derivatives of the nodes that it calls, so callees are made
// first.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "semantics/differentiate/interface.h"

namespace rml {

class Derivatives {
 public:
  // Makes a derived node with the given name and sets its interface. If the node has no
  // derivative, reports a diagnostic and sets `failed` in the interface.
  using Derive = std::function<ast::Node(Derivatives&, const DerivativeKey&, const std::string& name, Derivative&)>;

  Derivatives(Program& program, Diagnostics& diagnostics, Derive derive);

  // Checks the current program without reporting errors; checked() returns the tables.
  void check();
  const Checked& checked() const { return checked_; }
  Program& program() { return program_; }
  Diagnostics& diagnostics() { return diagnostics_; }

  const Derivative& derive(const DerivativeKey& key);
  // `add` adds a generated node to the program; `fresh_name` returns an unused name for one.
  NodeId add(ast::Node node);
  std::string fresh_name(const std::string& base);
  // The generated nodes in the order of their generation: callees precede callers.
  const std::vector<NodeId>& made() const { return made_; }

  // The key for a call of `node` outside all derived nodes.
  DerivativeKey outermost(NodeId node) const;
  // True if the node has a `param`, or calls a node that has one.
  bool has_parameters(NodeId node);
  bool lives_in_time(NodeId node) const { return checked_.names.nodes[node.index].lives_in_time; }

 private:
  NodeId written(NodeId of) const;
  void take_written(const DerivativeKey& key, Derivative& out) const;
  void take_written_bps(const DerivativeKey& key, std::uint32_t bps, Derivative& out) const;
  void find_activity(const DerivativeKey& key, std::size_t k, const Derivative& of, Derivative::Extra& gradient) const;

  Program& program_;
  Diagnostics& diagnostics_;
  const Derive derive_;
  Checked checked_;
  std::map<DerivativeKey, Derivative> derivatives_;
  std::map<NodeId, bool> parameters_;
  std::map<std::string, std::uint32_t> variants_;
  std::vector<NodeId> made_;
};

}  // namespace rml
