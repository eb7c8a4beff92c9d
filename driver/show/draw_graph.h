// Draws the core of a program: one box per equation, and arrows along the data, which are dashed if they cross to
// another cycle. Instances are frames.
#pragma once

#include "driver/show/picture.h"

namespace rml {

Picture graph_picture(const Core& core);

}  // namespace rml
