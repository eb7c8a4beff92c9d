// Shows a program as a network: its tasks, the rings between them, and their capacities.
#pragma once

#include <string>

#include "driver/show/picture.h"
#include "lowering/steps/steps.h"

namespace rml {

// Describes a network as text, one paragraph per task.
std::string tasks_text(const steps::Program& network);
// Draws a network: one box per task, one arrow per ring and reader.
Picture tasks_picture(const steps::Program& network);

}  // namespace rml
