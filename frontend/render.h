// Diagnostics as text: for people (source line, caret, colour), as JSON, as SARIF 2.1.0.
#pragma once

#include <string>

#include "frontend/diagnostic.h"
#include "frontend/source.h"

namespace rml {

std::string render_human(const Diagnostics& diagnostics, const SourceMap& sources, bool color);
std::string render_json(const Diagnostics& diagnostics, const SourceMap& sources);
std::string render_sarif(const Diagnostics& diagnostics, const SourceMap& sources);

}  // namespace rml
