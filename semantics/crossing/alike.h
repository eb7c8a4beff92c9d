// Which things behave alike, of things that are told by a kind and by others of them, also in rings.
//
// All are alike until they are told apart: by their kind at first, then by what they are made of, until nothing new is
// told. Most things come after those that they are made of, so a sweep tells most of it at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace rml {

// `describe(thing, class_of, words)` appends what is known of a thing, with `class_of(other)` for each that it is made
// of. Returns by thing the first one that is like it; each one itself if that takes too many sweeps.
template <class Describe>
std::vector<std::uint32_t> first_alike(std::size_t count, Describe&& describe) {
  constexpr int most_sweeps = 64;
  std::vector<std::uint32_t> known(count), next(count), words;
  std::size_t classes = 1;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    std::map<std::vector<std::uint32_t>, std::uint32_t> number;
    for (std::uint32_t n = 0; n < count; ++n) {
      words.assign(1, known[n]);
      // What this sweep has found is not to be mixed up with what the last one found.
      describe(n, [&](std::uint32_t other) { return other < n ? 2 * next[other] + 1 : 2 * known[other]; }, words);
      next[n] = number.try_emplace(words, static_cast<std::uint32_t>(number.size())).first->second;
    }
    known.swap(next);
    if (number.size() == classes) {
      std::vector<std::uint32_t> first(classes, UINT32_MAX);
      for (std::uint32_t n = 0; n < count; ++n) {
        if (first[known[n]] == UINT32_MAX) first[known[n]] = n;
        next[n] = first[known[n]];
      }
      return next;
    }
    classes = number.size();
  }
  for (std::uint32_t n = 0; n < count; ++n) known[n] = n;
  return known;
}

}  // namespace rml
