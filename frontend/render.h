// Renders diagnostics as text for people (source line, caret, colour), as JSON, and as SARIF
// 2.1.0.
#pragma once

#include <string>
#include <vector>

#include "frontend/diagnostic.h"
#include "frontend/source.h"

namespace rml {

// Returns the diagnostic with its texts shortened and made safe for a terminal. Places and
// replacements are not changed. Every renderer uses this function.
Diagnostic readable_diagnostic(const Diagnostic& diagnostic);

// Returns the readable diagnostics to show. If there are very many errors or warnings, it returns
// the first ones and a diagnostic that says how many are omitted.
std::vector<Diagnostic> shown_diagnostics(const Diagnostics& diagnostics);

std::string render_human(const Diagnostics& diagnostics, const SourceMap& sources, bool color);
std::string render_json(const Diagnostics& diagnostics, const SourceMap& sources);
std::string render_sarif(const Diagnostics& diagnostics, const SourceMap& sources);

}  // namespace rml
