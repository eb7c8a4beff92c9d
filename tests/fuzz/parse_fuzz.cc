// Any bytes are parsed without a crash; what parses is formatted to text that parses and
// that formatting leaves alone. A libFuzzer target.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "frontend/format.h"
#include "frontend/parse.h"
#include "frontend/render.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // No import is followed and no prelude read: the text alone is at issue.
  rml::SourceMap sources;
  rml::Diagnostics diagnostics;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto once = rml::format(sources.add("fuzz.rml", text), sources, diagnostics);
  rml::render_human(diagnostics, sources, false);
  if (!once) {
    if (!diagnostics.has_errors()) std::abort();
    return 0;
  }
  const auto twice = rml::format(sources.add("formatted.rml", *once), sources, diagnostics);
  if (!twice || *twice != *once) std::abort();
  return 0;
}
