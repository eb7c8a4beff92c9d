// How the runtime words what a program reports in its header.
//
// A fault becomes one message "file:line:column: cycle N: what"; a fault of the input names the
// input's place instead of the program's. Pure functions of the program table and the header.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/base/rmlrt.h"

namespace rml::rt {

// header.fault is not RML_OK. place: where an input stood in the cycle of the fault; empty if there are none.
std::string fault_text(const rml_program& program, const rml_header& header,
                       const std::function<std::string(std::uint32_t input)>& place);

// The next row waits, and much is kept.
std::string window_text(const rml_program& program, const rml_header& header);
// The next row needs its own value: no further input makes it known.
inline bool needs_itself(const rml_header& header) { return header.waiting <= -2; }
// Why rows were not emitted; header.pushed > header.popped after finish.
std::string undetermined_text(const rml_program& program, const rml_header& header);

}  // namespace rml::rt
