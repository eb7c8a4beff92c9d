// A program as a network: its tasks, the rings between them, and how much these hold.
#pragma once

#include <string>

#include "driver/show/picture.h"
#include "lowering/steps/steps.h"

namespace rml {

// One paragraph a task.
std::string tasks_text(const steps::Program& network);
// A box a task, an arrow a ring and reader.
Picture tasks_picture(const steps::Program& network);

}  // namespace rml
