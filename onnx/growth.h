// Limits how much larger than the model a program may become. Inlined functions and unrolled
// loops multiply: forty functions that each call the next one twice are a small file but 10^12
// nodes. Every inserted node is counted.
#pragma once

#include <cstdint>
#include <string>

namespace rml::onnx {

// Thrown when the limit is exceeded; no other error is then reported. `place` is extended while
// it propagates.
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
                                " nodes: raise the limit with --limit nodes=N"};
  }

 private:
  std::int64_t most_, count_ = 0;
};

}  // namespace rml::onnx
