// The reference engine behind the table of rmlrt.h, so that rml_main drives an interpreted
// program exactly as it drives a compiled one (`--engine reference`).
//
// The table's functions receive only the state; `init` of each ReferenceProgram is therefore
// a function made at run time (a libffi closure) that knows its program, and the others find
// it in the state. Any number of programs and states can exist at once. The interpreter owns
// its memory itself: grow is not called, and horizon is not looked at.
#pragma once

#include <memory>
#include <string>

#include "frontend/source.h"
#include "runtime/base/rmlrt.h"
#include "semantics/core/core.h"
#include "semantics/reference/interpret.h"

namespace rml {

class ReferenceProgram {
 public:
  // `core` must outlive this and every state; `source` is the file as the user named it.
  ReferenceProgram(const Core& core, const SourceMap& sources, std::string source, CallExternal call = {},
                   Failing = Failing::where_present);
  ~ReferenceProgram();
  ReferenceProgram(const ReferenceProgram&) = delete;
  ReferenceProgram& operator=(const ReferenceProgram&) = delete;

  // Valid as long as this lives.
  const rml_program* table() const;

 private:
  struct State;
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

}  // namespace rml
