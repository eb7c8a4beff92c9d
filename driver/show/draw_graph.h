// The core of a program as a picture: one box per equation, arrows along the data, dashed
// where they cross to another cycle; instances are frames.
#pragma once

#include "driver/show/picture.h"

namespace rml {

Picture graph_picture(const Core& core);

}  // namespace rml
