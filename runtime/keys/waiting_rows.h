// The rows of each key that were read but whose outputs are not known yet, as row numbers of the
// input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace rml::rt {

class WaitingRows {
 public:
  void add(std::uint32_t key, std::int64_t row) {
    if (key >= of_.size()) of_.resize(std::size_t{key} + 1);
    of_[key].rows.push_back(row);
  }
  // Removes the first waiting row of the key.
  void take(std::uint32_t key) {
    OfKey& k = of_[key];
    if (++k.taken < k.rows.size()) return;
    k.rows.clear();
    k.taken = 0;
  }
  // The first waiting row of the key; none if no row waits.
  std::optional<std::int64_t> first(std::uint32_t key) const {
    if (key >= of_.size() || of_[key].rows.empty()) return std::nullopt;
    return of_[key].rows[of_[key].taken];
  }

  // Visits the keys with waiting rows in the order of their first waiting rows. `hand_out(key)`
  // takes the first row of the key and returns true; the key is then visited again for its next
  // row. If it returns false, that row is not known, and the key is not visited again.
  template <class HandOut>
  void in_order(const HandOut& hand_out) const {
    // row number and key; the smallest row comes first
    using Turn = std::pair<std::int64_t, std::uint32_t>;
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> next;
    for (std::uint32_t key = 0; key < of_.size(); ++key)
      if (const auto row = first(key)) next.emplace(*row, key);
    while (!next.empty()) {
      const std::uint32_t key = next.top().second;
      next.pop();
      if (!hand_out(key)) continue;
      if (const auto row = first(key)) next.emplace(*row, key);
    }
  }

  // All waiting rows, in their order.
  std::vector<std::int64_t> all() const {
    std::vector<std::int64_t> rows;
    for (std::uint32_t key = 0; key < of_.size(); ++key) append(key, rows);
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  void append(std::uint32_t key, std::vector<std::int64_t>& to) const {
    if (key < of_.size())
      to.insert(to.end(), of_[key].rows.begin() + static_cast<std::ptrdiff_t>(of_[key].taken), of_[key].rows.end());
  }

 private:
  struct OfKey {
    std::vector<std::int64_t> rows;
    std::size_t taken = 0;
  };
  std::vector<OfKey> of_;
};

}  // namespace rml::rt
