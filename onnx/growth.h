// How much larger than the model in its file a program may become. Functions in the places of their calls, and the
// rounds of loops one after the other, multiply: forty functions that call each other twice are a small file and 10^12
// nodes. Every insertion is counted.
#pragma once

#include <cstdint>
#include <string>

namespace rml::onnx {

// No other fault of the model matters then. `place` is completed on its way out.
struct TooLarge {
  std::string place, message;
};

class Growth {
 public:
  explicit Growth(std::int64_t most) : most_(most) {}
  void add(std::int64_t nodes, const std::string& place) {
    count_ += nodes;
    if (count_ > most_)
      throw TooLarge{place, "functions and loops would insert over " + std::to_string(most_) +
                                " nodes: --limit nodes=N lets more of them in"};
  }

 private:
  std::int64_t most_, count_ = 0;
};

}  // namespace rml::onnx
