// Rows that were read and are not known yet, by key: where in the input each stood.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace rml::rt {

class WaitingRows {
 public:
  void add(std::uint32_t key, std::int64_t row) {
    if (key >= of_.size()) of_.resize(std::size_t{key} + 1);
    of_[key].rows.push_back(row);
  }
  // The first one of the key is known.
  void take(std::uint32_t key) {
    OfKey& k = of_[key];
    if (++k.taken < k.rows.size()) return;
    k.rows.clear();
    k.taken = 0;
  }
  // The first one of the key; none: all are known.
  std::optional<std::int64_t> first(std::uint32_t key) const {
    if (key >= of_.size() || of_[key].rows.empty()) return std::nullopt;
    return of_[key].rows[of_[key].taken];
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
