// Sets of ports, interned: a set is a number, and equal sets have equal numbers.
//
// A port is one dependence of values on a later instant (equations.h). Two special ports mark a
// value that needs itself: `itself_at_once` within one instant, `itself_in_time` through other
// instants. Unions are cached, because the same few recur.
//
// Chains of look-ahead have many large sets that differ by a few members. So a set stores only the
// range of its words that are not zero, and unions over its members are cached for each word.
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

// A set for each port, and the unions of these sets over the members that share a word.
struct PortMap {
  std::vector<PortSet> of;                                          // by port
  std::vector<std::unordered_map<std::uint64_t, PortSet>> by_word;  // by word: the union for its bits
};

class PortSets {
 public:
  static constexpr int few = 8;  // members of a word whose union is not worth a cache

  // Creates an empty collection of sets. Their ports are numbers below `count`.
  explicit PortSets(std::size_t count);

  PortSet one(PortId);
  PortSet unite(PortSet, PortSet);
  bool contains(PortSet s, PortId p) const { return (word(s, p / 64) >> (p % 64) & 1) != 0; }
  bool intersect(PortSet, PortSet) const;
  // The members, in ascending order.
  const std::vector<PortId>& members(PortSet s);
  // The union of `map.of[p]` for each member p of s.
  PortSet unite_of(PortSet s, PortMap& map);
  // The number of words that were read for unions, and that are stored.
  std::uint64_t work() const { return work_; }
  std::size_t stored() const { return words_.size(); }

  // The members k * 64 + i of s, as the bits i of word k < words().
  std::uint64_t word(PortSet s, std::size_t k) const {
    const Range r = ranges_[s.number];
    return k >= r.begin && k < r.end ? words_[r.at + k - r.begin] : 0;
  }
  std::size_t words() const { return width_; }

 private:
  struct Range {
    std::uint32_t begin = 0, end = 0;  // the words that are stored
    std::size_t at = 0;                // the index of the first one in words_
  };
  PortSet intern(const std::vector<std::uint64_t>& words);
  void add(PortSet, std::vector<std::uint64_t>& words);
  // Calls f on each member, in ascending order.
  template <class F>
  void for_each(PortSet s, F&& f) const {
    for (std::size_t k = ranges_[s.number].begin; k < ranges_[s.number].end; ++k)
      for (std::uint64_t rest = word(s, k); rest != 0; rest &= rest - 1)
        f(static_cast<PortId>(k * 64) + static_cast<PortId>(std::countr_zero(rest)));
  }

  std::size_t width_;                 // number of words per set
  std::vector<std::uint64_t> words_;  // the stored words of all sets
  std::vector<Range> ranges_;         // by set
  std::uint64_t work_ = 0;
  std::unordered_map<std::uint32_t, std::vector<PortId>> members_;  // filled by members()
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
  std::unordered_map<std::uint64_t, PortSet> unions_;
};

}  // namespace rml
