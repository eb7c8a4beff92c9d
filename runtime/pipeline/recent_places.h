// The places of the rows that a network has read but not handed out. The network may find only
// later that an input was absent or present contrary to its clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/stream_io/row.h"
#include "runtime/stream_io/row_source.h"

namespace rml::rt {

class RecentPlaces {
 public:
  explicit RecentPlaces(const Row& row) {
    for (std::uint32_t i = 0; i < row.size(); ++i)
      if (!row.port(i).always) ports_.push_back(i);
  }
  // True if no input may be absent, so that no place is needed.
  bool none() const { return ports_.empty(); }

  // Adds the row of a cycle; cycles are consecutive. Rows before `done` are not needed any more.
  void add(std::int64_t cycle, const RowSource& source, std::int64_t done) {
    if (places_.empty()) first_ = cycle;
    for (; first_ < done && !places_.empty(); ++first_)
      places_.erase(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(ports_.size()));
    if (places_.empty()) first_ = cycle;
    for (const std::uint32_t port : ports_) places_.push_back(source.where(port));
  }

  Place of(std::int64_t cycle, std::uint32_t port) const {
    for (std::size_t k = 0; k < ports_.size(); ++k) {
      const std::size_t at = static_cast<std::size_t>(cycle - first_) * ports_.size() + k;
      if (ports_[k] == port && cycle >= first_ && at < places_.size()) return places_[at];
    }
    return {};
  }

 private:
  std::vector<std::uint32_t> ports_;
  std::deque<Place> places_;  // one per cycle, from first_ on
  std::int64_t first_ = 0;
};

}  // namespace rml::rt
