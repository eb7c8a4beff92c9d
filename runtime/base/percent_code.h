// Decodes %XX in the parts of an address.
#pragma once

#include <string>
#include <string_view>

namespace rml::rt {

struct PercentDecoded {
  std::string text, complaint;  // complaint: the error; empty: none
};

inline PercentDecoded percent_decoded(std::string_view part) {
  const auto digit = [&](std::size_t i) {
    const char c = i < part.size() ? part[i] : ' ';
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  PercentDecoded result;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] != '%') {
      result.text += part[i];
      continue;
    }
    const int high = digit(i + 1), low = digit(i + 2);
    if (high < 0 || low < 0) return {"", "'%' needs two hexadecimal digits after it (a percent sign is %25)"};
    if (high == 0 && low == 0) return {"", "%00 cannot be part of an address"};
    result.text += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return result;
}

}  // namespace rml::rt
