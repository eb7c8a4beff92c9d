// A variable that several patterns match becomes one output.
#include "compiler/watch_values.h"

#include <algorithm>

#include "runtime/base/pattern.h"

namespace rml {

std::vector<Port> matching_watches(const Core& core, const std::string& pattern, Diagnostics& diagnostics) {
  std::vector<Port> found;
  std::vector<std::string> names;
  for (const Port& p : core.watches) {
    names.push_back(p.name);
    if (rt::matches(pattern, p.name)) found.push_back(p);
  }
  if (found.empty()) {
    auto& d = diagnostics.report(Code::E0201, {}, "no variable '" + pattern + "' to watch in '" + core.entry + "'");
    const auto longer = std::ranges::find_if(names, [&](const std::string& n) { return n.ends_with("." + pattern); });
    const std::string near = longer != names.end() ? *longer : did_you_mean(pattern, names);
    if (!near.empty()) d.note("did you mean '" + near + "'?");
  }
  return found;
}

void watch_values(Core& core, const std::vector<std::string>& patterns, Diagnostics& diagnostics) {
  std::vector<Port> all;
  for (const std::string& pattern : patterns)
    for (Port& p : matching_watches(core, pattern, diagnostics))
      if (std::ranges::find(all, p.name, &Port::name) == all.end()) all.push_back(std::move(p));
  core.watched = all.size();
  for (Port& p : all) core.outputs.push_back(std::move(p));
}

}  // namespace rml
