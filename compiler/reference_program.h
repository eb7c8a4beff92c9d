// Puts the reference engine behind the table of rmlrt.h, so that rml_main drives an interpreted
// program exactly like a compiled one (`--engine reference`).
//
// The functions of the table receive only the state. The function `init` of each ReferenceProgram
// is therefore made at run time (a libffi closure) and knows its program; the other functions
// find the program in the state. Any number of programs and states can exist together. The
// interpreter owns its memory, so `grow` is not called and `horizon` is not read.
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
  // `core` must outlive this object and every state. `source` is the file as the user named it.
  ReferenceProgram(const Core& core, const SourceMap& sources, std::string source, CallExternal call = {},
                   Failing = Failing::where_present);
  ~ReferenceProgram();
  ReferenceProgram(const ReferenceProgram&) = delete;
  ReferenceProgram& operator=(const ReferenceProgram&) = delete;

  // Returns the table of the program, which is valid as long as this object exists.
  const rml_program* table() const;

 private:
  struct State;
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

}  // namespace rml
