// Looks the name up in `limit_names`; an unknown name gets a suggestion.
#include "compiler/set_limit.h"

#include <charconv>
#include <vector>

#include "frontend/diagnostic.h"

namespace rml {

std::string set_limit(Limits& limits, const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string name = text.substr(0, equals), number = text.substr(std::min(equals + 1, text.size()));
  std::vector<std::string> names;
  for (const NamedLimit& limit : limit_names) {
    names.emplace_back(limit.name);
    if (limit.name != name) continue;
    const char* end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, limits.*limit.bound);
    if (error != std::errc{} || stop != end || limits.*limit.bound > limit.most)
      return "'" + number + "' is not a number from 0 to " + std::to_string(limit.most);
    return "";
  }
  const std::string near = did_you_mean(name, names);
  return "unknown limit '" + name + "'" + (near.empty() ? "" : "; did you mean '" + near + "'?");
}

}  // namespace rml
