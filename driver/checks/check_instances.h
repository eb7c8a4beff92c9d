// The checks of `rmlc check` that follow names, types and clocks. Their findings are appended to `said`.
#pragma once

#include <string>

#include "compiler/pipeline.h"

namespace rml {

void check_instances(Session&, const Front&, std::string& said);

}  // namespace rml
