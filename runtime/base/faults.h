// Texts for the faults that a program reports in its header.
//
// A fault becomes a message "file:line:column: cycle N: text". A fault of the input names the
// place in the input instead of the place in the program. These functions only depend on the
// table of the program and the header.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/base/rmlrt.h"

namespace rml::rt {

// Requires that header.fault is not RML_OK. place: the place of an input in the cycle of the
// fault; may be empty.
std::string fault_text(const rml_program& program, const rml_header& header,
                       const std::function<std::string(std::uint32_t input)>& place);

// The warning that the next row still waits while many rows are kept.
std::string window_text(const rml_program& program, const rml_header& header);
// True if the next row depends on its own value, so that no further input makes it known.
inline bool needs_itself(const rml_header& header) { return header.waiting <= -2; }
// The reason why rows were not written. Requires header.pushed > header.popped after finish.
std::string undetermined_text(const rml_program& program, const rml_header& header);

}  // namespace rml::rt
