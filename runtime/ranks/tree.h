// The sum over the micro-batches of a step, in an order that does not depend on which rank has
// which micro-batch.
//
// A step has `slots` micro-batches, numbered from 0. Their values are the leaves of a binary
// tree. With n values left and h = (n + 1) / 2, value k becomes value k + value (k + h) for each
// k + h < n, and h values are left; this is repeated until one is left. For eight slots: 0+4,
// 1+5, 2+6, 3+7; then 0+2, 1+3; then 0+1. A last step with fewer micro-batches uses the same tree
// with gaps: a value without a partner is unchanged. Rounding depends on the tree only, so any
// number of ranks computes the same bits.
//
// Slot k belongs to rank k mod R. Every inner node belongs to the owner of its left child, which
// computes it. With 2^a slots and 2^b ranks, all but the last b levels need no message. Rank 0
// sends the total to all ranks that have a micro-batch of the step, along another binary tree.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ranks/transport.h"

namespace rml::rt {

struct TreeShape {
  std::uint32_t slots = 1;    // number of micro-batches in a full step
  std::uint32_t present = 1;  // number of micro-batches in this step, which are the first slots
  std::uint32_t ranks = 1;

  std::uint32_t owner(std::uint32_t slot) const { return slot % ranks; }
  // Number of ranks with a micro-batch, which are the first ranks.
  std::uint32_t participants() const { return present < ranks ? present : ranks; }
  // An inner node of the tree of sums. Nodes follow those that they depend on.
  struct Node {
    std::uint32_t left, right;  // slots of its two children
    // number of nodes that have changed each child before
    std::uint32_t left_before, right_before;
  };
  std::vector<Node> nodes() const;
  // Number of messages of one sum, of all ranks together. Each message has all elements of the
  // value and one more byte.
  std::uint64_t messages() const;
  std::uint64_t bytes(std::uint64_t bytes_of_value) const { return messages() * (bytes_of_value + 1); }
  bool operator==(const TreeShape&) const = default;
};

// True for types that can be added. 16-bit floats are added as f32 and rounded at every node;
// integers wrap.
bool can_be_summed(std::uint8_t dtype);
// Adds `from` to `to`, element by element; both may have any alignment.
void add_elements(std::uint8_t dtype, std::uint64_t count, void* to, const void* from);

// The tree along which a value spreads from rank `from` to all participants: each receives it
// once.
class Spread {
 public:
  Spread(std::uint32_t rank, std::uint32_t participants, std::uint32_t from);
  // The rank that sends the value to this one; meaningless for rank `from`.
  std::uint32_t parent() const { return parent_; }
  const std::vector<std::uint32_t>& children() const { return children_; }

 private:
  std::uint32_t parent_ = 0;
  std::vector<std::uint32_t> children_;
};

// One sum of the program, step by step. Each rank adds its values in the order of the slots.
// Parts are sent to other ranks as soon as they are complete, while the program continues.
// Messages also say whether a rank was interrupted, so that all ranks know it in the same step.
class TreeSum {
 public:
  TreeSum(Transport& transport, std::uint32_t site, std::uint8_t dtype, std::uint64_t count);
  std::uint8_t dtype() const { return dtype_; }
  std::uint64_t count() const { return count_; }
  // Begins a new step, whether or not the last one is complete.
  void begin(const TreeShape& shape);
  // Adds the value of one of this rank's slots.
  void add(std::uint32_t slot, const void* values);
  // Waits for the total, after all slots of this rank were added. Throws LostRank.
  void wait(void* total);
  // True if a rank wanted to stop before its part of the last sum was complete. The result is the
  // same on all ranks.
  bool stops() const { return stops_; }

 private:
  struct Leaf {
    Message value;
    std::uint32_t summed = 0;  // number of nodes added so far
    bool there = false;
  };
  bool own(std::uint32_t slot) const { return shape_.owner(slot) == transport_.rank(); }
  bool ready(std::uint32_t slot, std::uint32_t before) const {
    return leaves_[slot].there && leaves_[slot].summed == before;
  }
  void advance();
  bool compute(const TreeShape::Node& node);
  void take(const TreeShape::Node& node, const Message& right);
  void send(std::uint32_t to, Talk talk, Message value);
  // The value in a received message.
  Message opened(Message message, std::uint32_t from);
  void hand_down(void* total);

  Transport& transport_;
  const std::uint32_t site_;
  const std::uint8_t dtype_;
  const std::uint64_t count_, bytes_;
  TreeShape shape_{0, 0, 0};
  std::vector<TreeShape::Node> nodes_;  // the nodes that this rank takes part in
  std::vector<bool> done_;
  std::vector<Leaf> leaves_;
  bool stops_ = false;
};

}  // namespace rml::rt
