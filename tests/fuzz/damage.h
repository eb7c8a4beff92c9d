// Damages files reproducibly: the same seed gives the same damage to bytes, texts or headers.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace rml::fuzz {

using Random = std::mt19937_64;

// Returns a random number from 0 to bound - 1, or 0 if bound is 0.
inline std::uint64_t below(Random& random, std::uint64_t bound) { return bound == 0 ? 0 : random() % bound; }

// Changes one to four places; some are replaced by parts of `other`.
void damage_bytes(std::string& bytes, const std::string& other, Random& random);
// Changes one to four numbers, names, lines or separators.
void damage_text(std::string& text, Random& random);

// Returns a number that is likely to reveal errors as a count, an extent or an offset, near
// `number` or far from it.
std::int64_t telling_number(std::int64_t number, Random& random);

std::string gzip(const std::string& bytes);
struct Member {
  std::string name, content;
  bool deflated = false;
};
std::string zip(const std::vector<Member>& members);

}  // namespace rml::fuzz
