// Diagnostics: the errors and warnings that the compiler reports to its user.
//
// A diagnostic has a stable code (a row in diagnostics.def and a page in explain/), a message in
// the user's words, a primary place, further labelled places, notes and fix-its. Passes append to
// a Diagnostics collector and never print. Rendering as text, JSON or SARIF is declared in
// render.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/source.h"

namespace rml {

enum class Severity : std::uint8_t { error, warning };

// One enumerator per row of diagnostics.def, named after its code: Code::E0101.
enum class Code : std::uint16_t {
#define RML_DIAGNOSTIC(code, title) code,
#include "frontend/diagnostics.def"
#undef RML_DIAGNOSTIC
};

std::string_view code_name(Code code);   // "E0101"
std::string_view code_title(Code code);  // returns the title of a code, as in diagnostics.def
Severity severity(Code code);            // returns `error` for codes that begin with E, `warning` for W
// All codes, in the order of diagnostics.def.
const std::vector<Code>& all_codes();

struct Label {
  Span span;
  std::string text;
};

struct FixIt {
  Span span;  // range to replace; an empty range is an insertion
  std::string replacement;
  std::string title;     // title of the fix-it, such as "write `k when bp`"
  bool certain = false;  // true if the fix is certain: tests apply it, and the result must compile
};

struct Diagnostic {
  Code code;
  std::string message;
  Label primary;
  std::vector<Label> secondary;
  std::vector<std::string> notes;
  std::vector<FixIt> fixes;

  Diagnostic& label(Span span, std::string text);  // adds a label at a secondary place
  Diagnostic& note(std::string text);
  Diagnostic& fix(Span span, std::string replacement, std::string title, bool certain = false);
};

class Diagnostics {
 public:
  // The reference is valid until the next call of `report` or `append`.
  Diagnostic& report(Code code, Span span, std::string message, std::string label = {});
  void append(const Diagnostics& others);
  // Appends only the diagnostics that are not yet reported for their place. Several instances of
  // one node report the same.
  void append_new(const Diagnostics& others);
  void append(const Diagnostic& other);
  bool has_errors() const { return errors_ > 0; }
  std::size_t error_count() const { return errors_; }
  const std::vector<Diagnostic>& all() const { return list_; }

 private:
  std::vector<Diagnostic> list_;
  std::size_t errors_ = 0;
};

// Returns the candidate that is nearest to `name` by edit distance, or an empty string if none is
// near enough to be a misspelling.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace rml
