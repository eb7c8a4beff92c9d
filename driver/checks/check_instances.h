// What `rmlc check` finds after names, types and clocks; what it has to say goes to `said`.
#pragma once

#include <string>

#include "compiler/pipeline.h"

namespace rml {

void check_instances(Session&, const Front&, std::string& said);

}  // namespace rml
