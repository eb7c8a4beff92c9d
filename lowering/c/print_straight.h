// Prints NODE_step and NODE_run of a straight program.
#pragma once

#include "lowering/c/file.h"
#include "lowering/c/interface.h"

namespace rml::c99 {

void print_step(File&, Code&);
void print_run(File&, Code&);
// Returns the text of NODE_step_many for the header.
std::string step_many_text(const File&, bool faults);

// `(void)x;` for each parameter of a function that its text does not name.
std::string unused(const std::vector<std::string>& names, const std::string& text);

// Moves local tensors that are too large for the stack to the state.
void place_tensors(Scope&);

}  // namespace rml::c99
