// Facts about a core are cached until facts of another core are requested.
#include "compiler/translation.h"

namespace rml {

Translation::Translation(Session& s, Diagnostics& d) : session(s), diagnostics(d) {}
Translation::~Translation() = default;

const ScheduleFacts& Translation::facts(const std::shared_ptr<const Core>& core, const std::vector<ValueId>& ends) {
  if (const ScheduleFacts* known = cuts == nullptr ? nullptr : cuts->facts_of(core)) return *known;
  if (facts_of_ != core) {
    facts_of_ = core;
    facts_.emplace(*core, ends);
  }
  return *facts_;
}

}  // namespace rml
