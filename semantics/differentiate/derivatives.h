// The program that is differentiated, and what has been derived of its nodes.
//
// A derived node is made when it is first asked for, and kept: two calls that ask for the same share it.
// While one is made it asks for those of the nodes that it calls, so callees are made first.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "semantics/differentiate/interface.h"

namespace rml {

class Derivatives {
 public:
  // Makes a derived node under a name, and tells its interface; without a node, but with diagnostics and
  // `failed` in the interface, where there is none.
  using Derive = std::function<ast::Node(Derivatives&, const DerivativeKey&, const std::string& name, Derivative&)>;

  Derivatives(Program& program, Diagnostics& diagnostics, Derive derive);

  // Checks the program as it is, without a word; the tables are those of checked().
  void check();
  const Checked& checked() const { return checked_; }
  Program& program() { return program_; }
  Diagnostics& diagnostics() { return diagnostics_; }

  const Derivative& derive(const DerivativeKey& key);
  // Adds a node that was made; and a name for one.
  NodeId add(ast::Node node);
  std::string fresh_name(const std::string& base);
  // In the order in which they were made, callees first.
  const std::vector<NodeId>& made() const { return made_; }

  // The key with which a call of `node` outside every derived node asks for it.
  DerivativeKey outermost(NodeId node) const;
  // Whether a node, or one it calls, has a `param`.
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
