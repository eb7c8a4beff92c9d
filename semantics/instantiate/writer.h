// A draft while it is written: what its instances share, and those that wait for their equations.
//
// Instances wait in a queue rather than on the stack, so a chain of 100,000 of them is no deeper than one.
#pragma once

#include <unordered_map>

#include "semantics/check/call_identities.h"
#include "semantics/instantiate/iteration.h"
#include "semantics/instantiate/options.h"

namespace rml::draft {

// An instance: what stands in it for the node's dtype variables, clock variables and variables.
// Constants are elaborated in a scope without a node.
struct Scope {
  InstanceId instance;
  NodeId node;
  std::uint64_t calls = 0;                                // that lead here
  std::vector<DType> dtypes;                              // by dtype variable of the node's scheme
  std::vector<DraftClockId> clocks;                       // by clock variable
  std::vector<DraftId> variables;                         // by variable index: aliases
  std::vector<DraftId> arguments;                         // by input, of callees
  DraftClockId constant_clock = base;                     // of every expression, without a node
  std::unordered_map<std::uint32_t, DraftId> values;      // by ExprId, as met
  std::unordered_map<std::uint32_t, DraftClockId> terms;  // by ClockTermId, as met
  bool untyped = false;                                   // an override: every expression has this dtype
  DType untyped_dtype = DType::f32;
};

class DraftWriter {
 public:
  // depth: of the entry.
  DraftWriter(const Checked& checked, const InstantiateOptions& options, const InstantiateBody& instantiate_body,
              Depth depth, Diagnostics& diagnostics);

  const Checked& checked;
  const InstantiateBody& instantiate_body;  // of nodes that are iterated
  const Depth depth;
  Diagnostics& diagnostics;
  Draft draft;
  std::vector<Scope> pending;
  bool keep_stops = false;  // as of InstantiateOptions
  CalledAt called_at;       // the entry is, where it lives in time and is mapped

  const Program& program() const { return *checked.program; }
  // The clock sampled by a condition: one, however often it is asked for.
  DraftClockId on(DraftClockId parent, DraftId condition, bool positive);
  // What stands for a constant at a dtype and clock; invalid as long as nothing was put there.
  DraftId& constant(ConstId id, DType dtype, DraftClockId clock);
  // The value that replaces that of a constant; invalid: none.
  ExprId replacement(ConstId id) const;
  // What a call of a node is known by among its others.
  const std::string& identity(NodeId node, ExprId call);
  // Below what an instance is called; itself where the name is empty.
  std::string qualified(InstanceId instance, const std::string& name) const;
  // The path of the outermost of the derived nodes that call one another, the last one the instance.
  std::string outermost_derived(InstanceId) const;

 private:
  struct ClockKey {
    std::uint32_t parent, condition;
    bool positive;
    friend bool operator==(const ClockKey&, const ClockKey&) = default;
  };
  struct ClockKeyHash {
    std::size_t operator()(const ClockKey& k) const {
      return (std::uint64_t{k.parent} << 32 | k.condition) * 0x9e3779b97f4a7c15u + k.positive;
    }
  };
  std::unordered_map<ClockKey, DraftClockId, ClockKeyHash> clocks_;
  std::unordered_map<std::uint64_t, DraftId> constants_;          // by ConstId, dtype and clock
  std::unordered_map<std::uint32_t, ExprId> replacements_;        // by ConstId
  std::unordered_map<std::uint32_t, CallIdentities> identities_;  // by NodeId, as met
};

}  // namespace rml::draft
