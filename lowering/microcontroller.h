// Which targets are microcontrollers.
#pragma once

#include <string>

namespace rml {

// True for 32-bit ARM and RISC-V without an operating system. The archives of the runtime are not
// built for them.
bool is_microcontroller(const std::string& triple);

}  // namespace rml
