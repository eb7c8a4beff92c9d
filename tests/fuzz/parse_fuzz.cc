// A libFuzzer target: any bytes are parsed without a crash. If they parse, the formatted text
// must parse and must not change when it is formatted again.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "frontend/format.h"
#include "frontend/parse.h"
#include "frontend/render.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Only the text is tested: no import is followed and no prelude is read.
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
