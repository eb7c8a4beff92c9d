// The forms between passes as texts.
#include "compiler/passes.h"
#include "compiler/print_ast.h"

namespace rml {

std::string print(const Pass& pass, Translation& t) {
  switch (pass.makes) {
    case Form::text:
      return t.text.value_or("");
    case Form::tree:
    case Form::checked:
      return print_ast(*t.program);
    case Form::core:
      return print_core(t.core());
    case Form::schedule:
      return print(t.schedule());
    case Form::segments:
      return print(t.schedule());
    case Form::steps:
      return steps::print(t.steps());
    case Form::llvm:
      break;
  }
  return "";
}

}  // namespace rml
