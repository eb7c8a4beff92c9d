// Partition refinement: finds equal things among things that are described by a kind and by
// references to other things, possibly in cycles.
//
// At first all things are in one class. Classes are split by kind, then by the classes of the
// references, until nothing changes. Most things follow those that they refer to, so the first
// sweep finds most of the classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace rml {

// `describe(thing, class_of, words)` appends a description of a thing, with `class_of(other)` for
// each thing it refers to. Returns, by thing, the first thing equal to it; itself for each thing
// if too many sweeps are needed.
template <class Describe>
std::vector<std::uint32_t> first_alike(std::size_t count, Describe&& describe) {
  constexpr int most_sweeps = 64;
  std::vector<std::uint32_t> known(count), next(count), words;
  std::size_t classes = 1;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    std::map<std::vector<std::uint32_t>, std::uint32_t> number;
    for (std::uint32_t n = 0; n < count; ++n) {
      words.assign(1, known[n]);
      // Class numbers of this sweep and of the previous sweep must not be confused.
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
