// Collects the errors while a failed run saves as much as possible: each attempt is made even if
// others fail.
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
  // The text of all errors, one or more lines for each.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace rml::rt
