// Bit sets in one array, found by a hash of their words.
#include "semantics/crossing/port_sets.h"

#include <algorithm>
#include <span>

namespace rml {

PortSets::PortSets(std::size_t count) : width_(count / 64 + 1) { intern(std::vector<std::uint64_t>(width_)); }

PortSet PortSets::one(PortId p) {
  std::vector<std::uint64_t> words(width_);
  words[p / 64] = std::uint64_t{1} << (p % 64);
  return intern(words);
}

PortSet PortSets::unite(PortSet a, PortSet b) {
  if (a == b || b.empty()) return a;
  if (a.empty()) return b;
  if (b.number < a.number) std::swap(a, b);
  const auto [known, is_new] = unions_.try_emplace(std::uint64_t{a.number} << 32 | b.number);
  if (!is_new) return known->second;
  std::vector<std::uint64_t> words(width_);
  add(a, words);
  add(b, words);
  return known->second = intern(words);
}

const std::vector<PortId>& PortSets::members(PortSet s) {
  const auto [known, is_new] = members_.try_emplace(s.number);
  if (is_new) for_each(s, [&](PortId p) { known->second.push_back(p); });
  return known->second;
}

void PortSets::add(PortSet s, std::vector<std::uint64_t>& words) {
  const Range range = ranges_[s.number];
  work_ += range.end - range.begin;
  for (std::size_t k = range.begin; k < range.end; ++k) words[k] |= words_[range.at + k - range.begin];
}

PortSet PortSets::unite_of(PortSet s, PortMap& map) {
  const auto add_members = [&](std::size_t k, std::uint64_t bits, std::vector<std::uint64_t>& words) {
    for (; bits != 0; bits &= bits - 1) add(map.of[k * 64 + static_cast<std::size_t>(std::countr_zero(bits))], words);
  };
  std::vector<std::uint64_t> words(width_);
  const Range range = ranges_[s.number];
  for (std::size_t k = range.begin; k < range.end; ++k) {
    const std::uint64_t bits = word(s, k);
    if (std::popcount(bits) <= few) {
      add_members(k, bits, words);
      continue;
    }
    map.by_word.resize(width_);
    const auto [known, is_new] = map.by_word[k].try_emplace(bits);
    if (is_new) {
      std::vector<std::uint64_t> part(width_);
      add_members(k, bits, part);
      known->second = intern(part);
    }
    add(known->second, words);
  }
  return intern(words);
}

bool PortSets::intersect(PortSet a, PortSet b) const {
  const Range range = ranges_[a.number];
  for (std::size_t k = range.begin; k < range.end; ++k)
    if ((word(a, k) & word(b, k)) != 0) return true;
  return false;
}

PortSet PortSets::intern(const std::vector<std::uint64_t>& words) {
  std::size_t begin = 0, end = words.size();
  while (begin < end && words[begin] == 0) ++begin;
  while (end > begin && words[end - 1] == 0) --end;
  const std::span<const std::uint64_t> stored(words.begin() + static_cast<std::ptrdiff_t>(begin), end - begin);
  std::uint64_t hash = stored.empty() ? 0 : begin;
  for (const std::uint64_t w : stored) hash = (std::rotl(hash, 5) ^ w) * 0x9e3779b97f4a7c15u;
  const auto [from, to] = by_hash_.equal_range(hash);
  for (auto at = from; at != to; ++at) {
    const Range& r = ranges_[at->second];
    if (r.end - r.begin == stored.size() && (stored.empty() || r.begin == begin) &&
        std::ranges::equal(stored, std::span(words_).subspan(r.at, stored.size())))
      return {at->second};
  }
  const auto number = static_cast<std::uint32_t>(ranges_.size());
  ranges_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), words_.size()});
  by_hash_.emplace(hash, number);
  words_.insert(words_.end(), stored.begin(), stored.end());
  return {number};
}

}  // namespace rml
