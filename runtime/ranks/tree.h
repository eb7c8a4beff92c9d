// The sum over the micro-batches of a step, in an order that does not depend on who has them.
//
// A step has `slots` micro-batches, numbered from 0. Their values are the leaves of a binary tree: with n of them left,
// h = (n + 1) / 2, leaf k becomes leaf k + leaf k + h for each k + h < n, and h are left; so on until there is one. Of
// eight: 0+4, 1+5, 2+6, 3+7; then 0+2, 1+3; then 0+1. A last step with fewer is the same tree with gaps: a leaf whose
// partner is missing stays as it is. Rounding depends on the tree alone, so any number of ranks gives the same bits.
//
// Slot k belongs to rank k mod R, and so does every inner node to the owner of its left child, which computes it: of
// 2^a slots and 2^b ranks all but the last b levels need no message. The total goes from rank 0 back to all ranks that
// have a micro-batch of the step, rank by rank along a binary tree of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ranks/transport.h"

namespace rml::rt {

struct TreeShape {
  std::uint32_t slots = 1;    // of a full step
  std::uint32_t present = 1;  // those that there are: the first ones
  std::uint32_t ranks = 1;

  std::uint32_t owner(std::uint32_t slot) const { return slot % ranks; }
  // Ranks that have a micro-batch: the first ones.
  std::uint32_t participants() const { return present < ranks ? present : ranks; }
  // The inner nodes, in an order in which each comes behind those that it needs.
  struct Node {
    std::uint32_t left, right;                // slots
    std::uint32_t left_before, right_before;  // how many nodes have summed up in each of them before
  };
  std::vector<Node> nodes() const;
  // What one sum takes, of all ranks together. Each message has all elements of the value, and a byte.
  std::uint64_t messages() const;
  std::uint64_t bytes(std::uint64_t bytes_of_value) const { return messages() * (bytes_of_value + 1); }
  bool operator==(const TreeShape&) const = default;
};

// Types that have a sum. Halves are added as f32 and rounded at every node, integers wrap.
bool can_be_summed(std::uint8_t dtype);
// to = to + from, element by element; both aligned to whatever they like.
void add_elements(std::uint8_t dtype, std::uint64_t count, void* to, const void* from);

// Who sends to whom so that all of `participants` have what rank `from` has: each receives once.
class Spread {
 public:
  Spread(std::uint32_t rank, std::uint32_t participants, std::uint32_t from);
  std::uint32_t parent() const { return parent_; }  // of any rank but `from`
  const std::vector<std::uint32_t>& children() const { return children_; }

 private:
  std::uint32_t parent_ = 0;
  std::vector<std::uint32_t> children_;
};

// One sum of the program, step by step. What a rank has of a step it adds in the order of the slots; parts leave for
// other ranks as soon as they are complete, while the program goes on. With the sum goes the wish of a rank that was
// interrupted: all learn of it in the same step.
class TreeSum {
 public:
  TreeSum(Transport& transport, std::uint32_t site, std::uint8_t dtype, std::uint64_t count);
  std::uint8_t dtype() const { return dtype_; }
  std::uint64_t count() const { return count_; }
  // A new step, whatever has become of the one before.
  void begin(const TreeShape& shape);
  // The value of one of this rank's slots.
  void add(std::uint32_t slot, const void* values);
  // All of this rank's slots are there. Throws LostRank.
  void wait(void* total);
  // Whether a rank had wished to stop before its part of the last sum was complete: the same on all ranks.
  bool stops() const { return stops_; }

 private:
  struct Leaf {
    Message value;
    std::uint32_t summed = 0;  // nodes
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
  // The value of a message that has come.
  Message opened(Message message, std::uint32_t from);
  void hand_down(void* total);

  Transport& transport_;
  const std::uint32_t site_;
  const std::uint8_t dtype_;
  const std::uint64_t count_, bytes_;
  TreeShape shape_{0, 0, 0};
  std::vector<TreeShape::Node> nodes_;  // that concern this rank
  std::vector<bool> done_;
  std::vector<Leaf> leaves_;
  bool stops_ = false;
};

}  // namespace rml::rt
