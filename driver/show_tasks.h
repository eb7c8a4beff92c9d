// A program as a network: its tasks, the rings between them, and how much these hold.
#pragma once

#include <string>

#include "lowering/steps.h"

namespace rml {

// One paragraph a task.
std::string tasks_text(const steps::Program& network);
// In Graphviz's DOT language: a box a task, an arrow a ring and reader.
std::string tasks_graph(const steps::Program& network);

}  // namespace rml
