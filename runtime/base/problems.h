// What a run that has failed meets while it saves what it can: each attempt is made, whatever others come to.
#pragma once

#include <string>
#include <utility>

#include "runtime/base/failure.h"

namespace rml::rt {

class Problems {
 public:
  explicit Problems(std::string first) : text_(std::move(first)) {}

  template <class F>
  void attempt(const F& action) {
    try {
      action();
    } catch (const Failure& failure) {
      text_ += "\n" + std::string(failure.what());
    }
  }
  // A line or more of each.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace rml::rt
