// Three rows of the distance table suffice. Names longer than 64 bytes are not compared, because
// a guess at them does not help the user.
#include "runtime/stream_io/spelling.h"

#include <algorithm>

namespace rml::rt {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 64;
  std::string best;
  std::size_t best_distance = longest;
  for (const std::string& candidate : known) {
    if (name.size() > longest || candidate.size() > longest || candidate.empty()) continue;
    const std::size_t d = distance(name, candidate);
    const std::size_t near = std::max<std::size_t>(1, std::max(name.size(), candidate.size()) / 3);
    // All single letters have distance 1 from each other, so only a difference in case is likely
    // to be a slip.
    const bool likely = std::max(name.size(), candidate.size()) > 1 ? d <= near : d == 0;
    if (likely && d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace rml::rt
