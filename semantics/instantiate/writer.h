// A draft during its construction: the data that its instances share, and the queue of instances
// whose equations are still to be written. The queue replaces recursion, so a chain of 100,000
// instances needs no more stack than one.
#pragma once

#include <unordered_map>

#include "semantics/check/call_identities.h"
#include "semantics/instantiate/iteration.h"
#include "semantics/instantiate/options.h"

namespace rml::draft {

// An instance: the values of the node's dtype variables, clock variables and variables. Constants
// are elaborated in a scope without a node.
struct Scope {
  InstanceId instance;
  NodeId node;
  std::uint64_t calls = 0;                                // depth of calls that lead here
  std::vector<DType> dtypes;                              // one per dtype variable of the node's scheme
  std::vector<DraftClockId> clocks;                       // one per clock variable of the node's scheme
  std::vector<DraftId> variables;                         // one per variable of the node, by its index; all are aliases
  std::vector<DraftId> arguments;                         // one per input of the node: the argument of the call
  DraftClockId constant_clock = base;                     // for a constant outside of nodes: clock of all its
                                                          // expressions
  std::unordered_map<std::uint32_t, DraftId> values;      // draft value of each ExprId; filled by the walk
  std::unordered_map<std::uint32_t, DraftClockId> terms;  // draft clock of each ClockTermId; filled by the walk
  // True while an override is evaluated: every expression then has the dtype `untyped_dtype`.
  bool untyped = false;
  DType untyped_dtype = DType::f32;
};

class DraftWriter {
 public:
  // depth is the nesting depth of the entry.
  DraftWriter(const Checked& checked, const InstantiateOptions& options, const InstantiateBody& instantiate_body,
              Depth depth, Diagnostics& diagnostics);

  const Checked& checked;
  const InstantiateBody& instantiate_body;  // instantiates the bodies of iterations
  const Depth depth;
  Diagnostics& diagnostics;
  Draft draft;
  std::vector<Scope> pending;
  bool keep_stops = false;  // keep `stop_gradient`; see InstantiateOptions
  bool is_body = false;     // true for the body of an iteration
  CalledAt called_at;       // place of the map whose body is the entry, if it has memory

  const Program& program() const { return *checked.program; }
  // The clock sampled by a condition; equal arguments give the same clock.
  DraftClockId on(DraftClockId parent, DraftId condition, bool positive);
  // The draft value of a constant at a dtype and clock; invalid until it is set.
  DraftId& constant(ConstId id, DType dtype, DraftClockId clock);
  // True for a constant that is a parameter (InstantiateOptions::tunable).
  bool is_tunable(ConstId id) const;
  // The override of a constant's value; invalid if there is none.
  ExprId replacement(ConstId id) const;
  // The identity of a call among the calls of its node.
  const std::string& identity(NodeId node, ExprId call);
  // A name below the path of an instance; the path itself if the name is empty.
  std::string qualified(InstanceId instance, const std::string& name) const;
  // The path of the outermost of the nested derived nodes that end with this instance.
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
  std::unordered_map<std::uint64_t, DraftId> constants_;  // draft values of constants, found by ConstId, dtype and
                                                          // clock
  std::vector<ConstId> tunable_;
  std::unordered_map<std::uint32_t, ExprId> replacements_;        // overriding values of constants, by ConstId
  std::unordered_map<std::uint32_t, CallIdentities> identities_;  // identities of the calls in each node, by NodeId;
                                                                  // filled at the first use
};

}  // namespace rml::draft
