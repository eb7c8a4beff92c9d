// Makes std::cout safe for terminals: results quote sources, whose comments may hold control characters. Files and
// pipes get the output unchanged, byte by byte.
#pragma once

#include <iostream>
#include <streambuf>
#include <string>

#include "runtime/base/readable.h"

namespace rml {

class ReadableOutput : public std::streambuf {
 public:
  // During the lifetime of this object, everything written to `stream` is made safe for a terminal.
  explicit ReadableOutput(std::ostream& stream) : stream_(stream), to_(stream.rdbuf(this)) {}
  ~ReadableOutput() override {
    sync();
    stream_.rdbuf(to_);
  }
  ReadableOutput(const ReadableOutput&) = delete;
  ReadableOutput& operator=(const ReadableOutput&) = delete;

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    held_ += traits_type::to_char_type(c);
    return traits_type::eq(held_.back(), '\n') && !write() ? traits_type::eof() : c;
  }
  int sync() override { return write() && to_->pubsync() == 0 ? 0 : -1; }

 private:
  bool write() {
    const std::string text = readable(held_);
    held_.clear();
    return to_->sputn(text.data(), static_cast<std::streamsize>(text.size())) ==
           static_cast<std::streamsize>(text.size());
  }

  std::ostream& stream_;
  std::streambuf* to_;
  std::string held_;  // complete characters; written at line ends and when the stream is flushed
};

}  // namespace rml
