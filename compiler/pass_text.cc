// Prints and reads the forms between passes as text. Readers do not trust a text: they report the
// position of an error.
#include "compiler/passes.h"
#include "compiler/print_ast.h"
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

}  // namespace rml
