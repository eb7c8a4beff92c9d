// What rmlc and the programs that it makes are linked with, and under which licenses: the file NOTICE.
#pragma once

#include "driver/commands/commands.h"

namespace rml {

int print_licenses(Invocation&, const std::string& nothing);

}  // namespace rml
