// The sets of expressions at one instant, given the truth of conditions and the sets of memories.
//
// If the evaluation of an expression reaches the same expression again, the value needs itself:
// within the instant, or in time if a port of the previous instant is on the path. The walk has
// an explicit stack and visits each expression once.
#pragma once

#include <unordered_map>

#include "semantics/crossing/condition_run.h"
#include "semantics/crossing/equations.h"

namespace rml {

class InstantSets {
 public:
  InstantSets(const Crossings&, PortSets&, ConditionRun&);

  // Begins an instant. `memories` are the sets of one instant earlier.
  void begin(const std::vector<PortSet>& memories);
  PortSet of(Crossings::Node);
  PortSet through(PortId p) { return p < first_port ? sets_.one(p) : of(crossings_.through(p)); }

  // The expressions on the last cycle that was found.
  const std::vector<Crossings::Node>& ring() const { return ring_; }
  std::int64_t spent() const { return spent_; }

 private:
  struct Frame {
    Crossings::Node node;
    std::uint32_t next = 0;  // next operand; of a memory, the next word of its set
    std::uint32_t bit = 0;   // of a memory, the next bit in that word
    PortSet set;
  };
  static constexpr Crossings::Node done = UINT32_MAX;
  // The next operand to visit, or `done`.
  Crossings::Node operand(Frame&);
  // The next operand of a memory whose set was `before`.
  Crossings::Node recalled(Frame&, PortSet before);
  void keep(std::uint32_t word, std::uint64_t bits);
  PortSet met_again(Crossings::Node);

  const Crossings& crossings_;
  PortSets& sets_;
  ConditionRun& conditions_;
  const std::vector<PortSet>* memories_ = nullptr;
  std::vector<std::uint32_t> instant_;  // indexed by node: instant at which its set was computed
  std::vector<PortSet> found_;          // indexed by node: the set computed last
  std::vector<std::uint32_t> place_;    // indexed by node: position on the stack, from 1; 0: not on the stack
  std::vector<Frame> stack_;
  // By word of a set: for the bits of that word, the union of what its ports cross at this instant.
  std::vector<std::unordered_map<std::uint64_t, PortSet>> by_word_;
  std::vector<Crossings::Node> ring_;
  std::uint32_t now_ = 0;
  std::int64_t spent_ = 0;
};

}  // namespace rml
