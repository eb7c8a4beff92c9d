// The sets of expressions at one instant, given what conditions are and what memories hold.
//
// An expression that is met again while it is looked for needs itself: at once, or in time, where a port of the instant
// before is on the way. A walk with a stack of its own, each expression once.
#pragma once

#include "semantics/crossing/condition_run.h"
#include "semantics/crossing/equations.h"

namespace rml {

class InstantSets {
 public:
  InstantSets(const Crossings&, PortSets&, ConditionRun&);

  // The memories are those of the instant before.
  void begin(const std::vector<PortSet>& memories);
  PortSet of(Crossings::Node);
  PortSet through(PortId p) { return p < first_port ? sets_.one(p) : of(crossings_.through(p)); }

  // Expressions on the way of the last one that was found to need itself.
  const std::vector<Crossings::Node>& ring() const { return ring_; }
  std::int64_t spent() const { return spent_; }

 private:
  struct Frame {
    Crossings::Node node;
    std::uint32_t next = 0;  // operand
    PortSet set;
  };
  static constexpr Crossings::Node done = UINT32_MAX;
  // The operand that is to be looked at next, `done` after the last.
  Crossings::Node operand(Frame&);
  PortSet met_again(Crossings::Node);

  const Crossings& crossings_;
  PortSets& sets_;
  ConditionRun& conditions_;
  const std::vector<PortSet>* memories_ = nullptr;
  std::vector<std::uint32_t> instant_;  // by node: when its set was found
  std::vector<PortSet> found_;          // by node
  std::vector<std::uint32_t> place_;    // by node: on the stack, from 1
  std::vector<Frame> stack_;
  std::vector<Crossings::Node> ring_;
  std::uint32_t now_ = 0;
  std::int64_t spent_ = 0;
};

}  // namespace rml
