// Bit sets in one array, found by a hash of their words.
#include "semantics/crossing/port_sets.h"

#include <algorithm>

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
  for (std::size_t k = 0; k < width_; ++k) words[k] = words_[a.number * width_ + k] | words_[b.number * width_ + k];
  return known->second = intern(words);
}

const std::vector<PortId>& PortSets::members(PortSet s) {
  const auto [known, is_new] = members_.try_emplace(s.number);
  if (is_new) for_each(s, [&](PortId p) { known->second.push_back(p); });
  return known->second;
}

PortSet PortSets::unite_of(PortSet s, const std::vector<PortSet>& of) {
  std::vector<std::uint64_t> words(width_);
  for_each(s, [&](PortId p) {
    work_ += width_;
    for (std::size_t k = 0; k < width_; ++k) words[k] |= words_[of[p].number * width_ + k];
  });
  return intern(words);
}

bool PortSets::intersect(PortSet a, PortSet b) const {
  for (std::size_t k = 0; k < width_; ++k)
    if ((words_[a.number * width_ + k] & words_[b.number * width_ + k]) != 0) return true;
  return false;
}

PortSet PortSets::intern(const std::vector<std::uint64_t>& words) {
  std::uint64_t hash = 0;
  for (const std::uint64_t w : words) hash = (std::rotl(hash, 5) ^ w) * 0x9e3779b97f4a7c15u;
  const auto [from, to] = by_hash_.equal_range(hash);
  for (auto at = from; at != to; ++at)
    if (std::equal(words.begin(), words.end(), words_.begin() + static_cast<std::ptrdiff_t>(at->second * width_)))
      return {at->second};
  const std::uint32_t number = count_++;
  by_hash_.emplace(hash, number);
  words_.insert(words_.end(), words.begin(), words.end());
  return {number};
}

}  // namespace rml
