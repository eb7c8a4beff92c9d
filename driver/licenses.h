// The licenses of everything that rmlc and the programs it makes are linked with: the file NOTICE.
#pragma once

#include "driver/commands/commands.h"

namespace rml {

int print_licenses(Invocation&);

}  // namespace rml
