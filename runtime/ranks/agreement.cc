// All ranks send their facts to rank 0, which compares them and sends its verdict to all ranks.
#include "runtime/ranks/agreement.h"

#include <algorithm>
#include <cstring>

namespace rml::rt {
namespace {

Message packed(const std::string& text) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

std::string text(const Message& message) { return {reinterpret_cast<const char*>(message.data()), message.size()}; }

// A text may contain any byte, so each is preceded by its length.
Message pack(const std::vector<Fact>& facts) {
  std::string all;
  for (const Fact& fact : facts)
    for (const std::string* part : {&fact.name, &fact.value}) all += std::to_string(part->size()) + ":" + *part;
  return packed(all);
}

std::string next(const std::string& all, std::size_t& at) {
  std::size_t size = 0;
  for (; at < all.size() && all[at] >= '0' && all[at] <= '9'; ++at)
    size = size * 10 + static_cast<std::size_t>(all[at] - '0');
  at = std::min(at + 1, all.size());
  const std::string part = all.substr(at, size);
  at += part.size();
  return part;
}

std::vector<Fact> unpack(const Message& message) {
  const std::string all = text(message);
  std::vector<Fact> facts;
  for (std::size_t at = 0; at < all.size();) {
    Fact& fact = facts.emplace_back();
    fact.name = next(all, at);
    fact.value = next(all, at);
  }
  return facts;
}

// The difference between the facts of a rank and those of this rank; empty if there is none.
std::string difference(std::uint32_t rank, const std::vector<Fact>& its, const std::vector<Fact>& ours) {
  for (std::size_t i = 0; i < std::max(its.size(), ours.size()); ++i) {
    const Fact none{i < ours.size() ? ours[i].name : its[i].name, "missing"};
    const Fact& a = i < its.size() && its[i].name == none.name ? its[i] : none;
    const Fact& b = i < ours.size() ? ours[i] : none;
    if (a.value != b.value)
      return rank_text(rank) + " was started differently from rank 0: " + b.name + " is " + a.value +
             ", but that of rank 0 is " + b.value;
  }
  return "";
}

// Sends the facts to rank 0. Returns its verdict, which is the same on all ranks.
std::string exchange(Transport& transport, const std::vector<Fact>& facts) {
  constexpr Tag tag{Talk::start, 0};
  if (transport.rank() != 0) {
    transport.send(0, tag, pack(facts));
    return text(transport.receive(0, tag, "the description of its program"));
  }
  std::string verdict;
  for (std::uint32_t rank = 1; rank < transport.ranks(); ++rank) {
    const std::string found =
        difference(rank, unpack(transport.receive(rank, tag, "the description of its program")), facts);
    if (verdict.empty()) verdict = found;
  }
  for (std::uint32_t rank = 1; rank < transport.ranks(); ++rank) transport.send(rank, tag, packed(verdict));
  return verdict;
}

}  // namespace

void agree(Transport& transport, const std::vector<Fact>& facts) {
  const std::string verdict = exchange(transport, facts);
  if (verdict.empty()) return;
  // No rank may stop before all ranks know the verdict; otherwise they would report the stopped
  // rank instead.
  try {
    exchange(transport, {});
  } catch (const LostRank&) {
    // Another rank has already stopped. The verdict is known, so this rank need not report it.
  }
  throw LostRank(verdict);
}

}  // namespace rml::rt
