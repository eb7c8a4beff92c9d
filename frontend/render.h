// Diagnostics as text: for people (source line, caret, colour), as JSON, as SARIF 2.1.0.
#pragma once

#include <string>
#include <vector>

#include "frontend/diagnostic.h"
#include "frontend/source.h"

namespace rml {

// As it may be shown: what it says is fit for a terminal and quotes no more than one wants to read. All that is
// rendered goes through here. Places and replacements stay what they are.
Diagnostic readable_diagnostic(const Diagnostic& diagnostic);

// All that is shown, readable: of very many errors or warnings the first ones, then how many are left out.
std::vector<Diagnostic> shown_diagnostics(const Diagnostics& diagnostics);

std::string render_human(const Diagnostics& diagnostics, const SourceMap& sources, bool color);
std::string render_json(const Diagnostics& diagnostics, const SourceMap& sources);
std::string render_sarif(const Diagnostics& diagnostics, const SourceMap& sources);

}  // namespace rml
