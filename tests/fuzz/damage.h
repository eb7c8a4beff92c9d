// Damage to files, the same for the same seed: bytes, and what a text or a header is made of.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace rml::fuzz {

using Random = std::mt19937_64;

// From 0 to bound - 1; 0 where there is none.
inline std::uint64_t below(Random& random, std::uint64_t bound) { return bound == 0 ? 0 : random() % bound; }

// Changes one to four places of any bytes; some are replaced by parts of `other`.
void damage_bytes(std::string& bytes, const std::string& other, Random& random);
// Changes one to four numbers, names, lines and separators.
void damage_text(std::string& text, Random& random);

// A number that is telling as a count, an extent or a place, near `number` or far from it.
std::int64_t telling_number(std::int64_t number, Random& random);

std::string gzip(const std::string& bytes);
struct Member {
  std::string name, content;
  bool deflated = false;
};
std::string zip(const std::vector<Member>& members);

}  // namespace rml::fuzz
