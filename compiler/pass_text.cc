// Prints and reads the forms between passes as text. Readers do not trust a text: they report the
// position of an error.
#include <stdexcept>

#include "compiler/passes.h"
#include "compiler/print_ast.h"
#include "compiler/translation.h"
#include "lowering/loops/loops_text.h"
#include "lowering/schedule/schedule_text.h"
#include "lowering/segment/segments_text.h"
#include "lowering/text/steps_text.h"
#include "semantics/core/core_text.h"

namespace rml {
namespace {

template <class Value>
bool take(std::optional<Value> value, const TextFault& fault, std::string_view text, Translation& t,
          std::string& error) {
  if (!value) {
    error = to_string(fault, text);
    return false;
  }
  t.form = std::move(*value);
  return true;
}

}  // namespace

std::string print(const Pass& pass, Translation& t) {
  switch (pass.makes) {
    case Form::text:
      return t.text.value_or("");
    case Form::tree:
    case Form::checked:
      return print_ast(*t.program);
    case Form::core:
      return core_text(t.core());
    case Form::schedule:
      return schedule_text(t.schedule());
    case Form::segments:
      return segments_text(t.segments());
    case Form::steps:
      return steps_text(t.steps());
    case Form::loops:
      return loops_text(t.loops());
    case Form::llvm:
      return generate(*t.module, FileKind::llvm_text);
  }
  return "";
}

bool reads_back(Form form) {
  return form == Form::core || form == Form::schedule || form == Form::segments || form == Form::steps ||
         form == Form::loops;
}

bool read(Form form, std::string_view text, Translation& t, std::string& error) {
  TextFault fault;
  switch (form) {
    case Form::core:
      return take(read_core(text, fault), fault, text, t, error);
    case Form::schedule:
      return take(read_schedule(text, fault), fault, text, t, error);
    case Form::segments:
      return take(read_segments(text, fault), fault, text, t, error);
    case Form::steps:
      return take(read_steps(text, fault), fault, text, t, error);
    case Form::loops:
      return take(loops::read_loops(text, fault), fault, text, t, error);
    case Form::text:
    case Form::tree:
    case Form::checked:
    case Form::llvm:
      error = "no text of this form can be read";
      break;
  }
  return false;
}

namespace {

// Runs the pass. Returns what prevented it: a broken invariant, or a fact that the text lacks because it belongs to an
// earlier pass.
std::string run_on_form(const Pass& pass, Translation& t) {
  try {
    run(pass, t);
    return t.violation;
  } catch (const std::out_of_range& e) {
    return std::string("the text lacks ") + e.what() + ", which an earlier pass makes";
  }
}

}  // namespace

std::optional<std::string> run_on_text(std::span<const Pass* const> passes, std::string_view text, bool keep_watches,
                                       Session& session, Diagnostics& found, TextRefusal& refusal) {
  Translation t(session, found);
  if (!read(passes.front()->takes, text, t, refusal.why)) return std::nullopt;
  t.keep_watches = keep_watches;
  t.emit.target = session.options.target;
  for (const Pass* const pass : passes) {
    refusal = {pass, run_on_form(*pass, t)};
    if (!refusal.why.empty()) return std::nullopt;
    if (found.has_errors()) return "";
  }
  return print(*passes.back(), t);
}

}  // namespace rml
