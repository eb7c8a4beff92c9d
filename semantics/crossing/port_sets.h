// Sets of ports, each kept once: a set is a number, and equal sets have equal numbers.
//
// A port is one way in which values look beyond their instant (equations.h). Two of them are none: `itself_at_once` and
// `itself_in_time` stand in a set for a value that is met again while it is looked for, at one instant or by way of
// others. Unions are remembered: the same few come up again and again.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace rml {

using PortId = std::uint32_t;
inline constexpr PortId itself_at_once = 0, itself_in_time = 1, first_port = 2;

struct PortSet {
  std::uint32_t number = 0;  // 0: the empty set
  bool empty() const { return number == 0; }
  friend bool operator==(PortSet, PortSet) = default;
};

class PortSets {
 public:
  // Of ports below `count`.
  explicit PortSets(std::size_t count);

  PortSet one(PortId);
  PortSet unite(PortSet, PortSet);
  bool contains(PortSet s, PortId p) const { return (words_[s.number * width_ + p / 64] >> (p % 64) & 1) != 0; }
  bool intersect(PortSet, PortSet) const;
  // The members, in ascending order.
  const std::vector<PortId>& members(PortSet s) const { return members_[s.number]; }

 private:
  PortSet intern(const std::vector<std::uint64_t>& words);

  std::size_t width_;                 // words of a set
  std::vector<std::uint64_t> words_;  // of all sets
  std::deque<std::vector<PortId>> members_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
  std::unordered_map<std::uint64_t, PortSet> unions_;
};

}  // namespace rml
