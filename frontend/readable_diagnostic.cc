// Makes texts fit for a terminal and limits the number of diagnostics, before any renderer sees
// them.
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

std::vector<Diagnostic> shown_diagnostics(const Diagnostics& diagnostics) {
  constexpr std::size_t most = 200;  // maximum number of errors, and of warnings
  struct Kind {
    std::size_t shown = 0, left_out = 0;
    const Diagnostic* first_left_out = nullptr;
  };
  Kind errors, warnings;
  std::vector<Diagnostic> shown;
  for (const Diagnostic& d : diagnostics.all()) {
    Kind& kind = severity(d.code) == Severity::error ? errors : warnings;
    if (kind.shown < most) {
      ++kind.shown;
      shown.push_back(readable_diagnostic(d));
    } else if (++kind.left_out == 1) {
      kind.first_left_out = &d;
    }
  }
  for (const Kind* kind : {&warnings, &errors}) {
    if (kind->left_out == 0) continue;
    const std::string word = kind == &errors ? "errors" : "warnings";
    const Diagnostic& d = *kind->first_left_out;
    shown.push_back({d.code, "too many " + word, {d.primary.span, ""}, {}, {}, {}});
    shown.back().note(std::to_string(kind->left_out) + " more " + word + " are not shown; this is the first of them");
  }
  return shown;
}

}  // namespace rml
