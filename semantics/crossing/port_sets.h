// Sets of ports, interned: a set is a number, and equal sets have equal numbers.
//
// A port is one dependence of values on a later instant (equations.h). Two special ports mark a
// value that needs itself: `itself_at_once` within one instant, `itself_in_time` through other
// instants. Unions are cached, because the same few recur.
#pragma once

#include <bit>
#include <cstdint>
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
  // For ports below `count`.
  explicit PortSets(std::size_t count);

  PortSet one(PortId);
  PortSet unite(PortSet, PortSet);
  bool contains(PortSet s, PortId p) const { return (words_[s.number * width_ + p / 64] >> (p % 64) & 1) != 0; }
  bool intersect(PortSet, PortSet) const;
  // The members, in ascending order.
  const std::vector<PortId>& members(PortSet s);
  // The union of `of[p]` for each member p of s. These unions are not cached, because there are
  // too many.
  PortSet unite_of(PortSet s, const std::vector<PortSet>& of);
  // The number of words that unite_of has read.
  std::uint64_t work() const { return work_; }

 private:
  PortSet intern(const std::vector<std::uint64_t>& words);
  // Calls f on each member, in ascending order.
  template <class F>
  void for_each(PortSet s, F&& f) const {
    for (std::size_t k = 0; k < width_; ++k)
      for (std::uint64_t rest = words_[s.number * width_ + k]; rest != 0; rest &= rest - 1)
        f(static_cast<PortId>(k * 64) + static_cast<PortId>(std::countr_zero(rest)));
  }

  std::size_t width_;                 // words per set
  std::vector<std::uint64_t> words_;  // the words of all sets
  std::uint32_t count_ = 0;           // number of sets
  std::uint64_t work_ = 0;
  std::unordered_map<std::uint32_t, std::vector<PortId>> members_;  // filled by members()
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
  std::unordered_map<std::uint64_t, PortSet> unions_;
};

}  // namespace rml
