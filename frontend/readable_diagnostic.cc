// See render.h.
#include "frontend/render.h"
#include "runtime/base/readable.h"

namespace rml {

Diagnostic readable_diagnostic(const Diagnostic& diagnostic) {
  const auto line = [](std::string& text) { text = readable_message(text, Lines::one); };
  Diagnostic result = diagnostic;
  line(result.message);
  line(result.primary.text);
  for (Label& label : result.secondary) line(label.text);
  for (FixIt& fix : result.fixes) line(fix.title);
  for (std::string& note : result.notes) note = readable_message(note);
  return result;
}

}  // namespace rml
