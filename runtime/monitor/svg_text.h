// Pieces of SVG text.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "runtime/base/readable.h"

namespace rml::rt {

// Text between tags. XML has no control characters, so these are spelt out.
inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : readable(text)) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

// Cuts the text after `most` characters and ends it with an ellipsis.
inline std::string shortened(std::string_view text, std::size_t most) {
  std::string kept;
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    const std::size_t bytes = first_code_point(text.substr(at)).bytes;
    if (count + 1 >= most && at + bytes < text.size()) return kept + "…";
    kept += text.substr(at, bytes);
    at += bytes;
  }
  return kept;
}

inline std::size_t letters(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) at += first_code_point(text.substr(at)).bytes;
  return count;
}

inline std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

inline std::string attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + number(value) + "\"";
}

}  // namespace rml::rt
