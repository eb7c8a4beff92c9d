// The clocks of a generated program: a tree whose root, number 0, is the base clock.
#pragma once

#include <string>
#include <vector>

namespace rml::fuzz {

struct GeneratedClock {
  int parent;  // index of the clock that is sampled; -1: the base clock
  std::string condition;
  bool positive;
};

class GeneratedClocks {
 public:
  // Returns the clock sampled from `parent` by the condition, and adds it if it is new.
  int on(int parent, const std::string& condition, bool positive) {
    for (std::size_t i = 0; i < clocks_.size(); ++i)
      if (clocks_[i].parent == parent && clocks_[i].condition == condition && clocks_[i].positive == positive)
        return static_cast<int>(i);
    clocks_.push_back({parent, condition, positive});
    return static_cast<int>(clocks_.size() - 1);
  }
  const GeneratedClock& operator[](int c) const { return clocks_[static_cast<std::size_t>(c)]; }
  int size() const { return static_cast<int>(clocks_.size()); }
  int depth(int c) const { return c == 0 ? 0 : 1 + depth((*this)[c].parent); }

 private:
  std::vector<GeneratedClock> clocks_{{-1, "", true}};
};

}  // namespace rml::fuzz
