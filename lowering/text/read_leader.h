// Reads the lines of steps_text that describe the leader of a program with units (lowering/steps/leader.h).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lowering/steps/leader.h"
#include "semantics/values/text_lines.h"

namespace rml {

// Reads the steps on the following lines, whose ports must be those of `like`. Returns null after a fault.
using ReadInnerSteps = std::function<std::shared_ptr<steps::Program>(const Core& like, const std::string& whose)>;
// Reads the rest of a line that begins with `leader`, then the leader's program. Returns null after a fault.
std::shared_ptr<const steps::Leader> read_leader(TextLines&, const steps::Program& whole, const ReadInnerSteps&);

}  // namespace rml
