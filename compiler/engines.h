// Loads a program into memory, ready to run. Both engines, compiled and reference, are used
// through an rml_program table.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "runtime/base/rmlrt.h"
#include "semantics/reference/interpret.h"

namespace rml {

class LoadedProgram {
 public:
  virtual ~LoadedProgram() = default;
  virtual const rml_program& table() const = 0;
};

// Optional parts of the compiled program: the function `run`, and memory cells that are stored
// apart.
struct Extras {
  bool run = false, cells_apart = false;
};
// `libraries` define the external nodes that Session::foreign does not supply. Returns null if an
// error was reported: E0805 for a function that is not found, E0903 for a target that LLVM does
// not know.
std::unique_ptr<LoadedProgram> load_compiled(Session& session, const steps::Program& program,
                                             const std::vector<std::string>& libraries, Extras extras = {});
std::unique_ptr<LoadedProgram> load_reference(Session& session, std::shared_ptr<const Core> core,
                                              const std::vector<std::string>& libraries,
                                              Failing = Failing::where_present);

// Returns the function by which the reference engine calls external nodes; it is empty if the
// program has none. The libraries remain open as long as that function lives. Returns nothing and
// reports E0805 if a function is in no library.
std::optional<CallExternal> external_caller(Session& session, const Core& core,
                                            const std::vector<std::string>& libraries);

// Reports E0805 for the external nodes that `error` names, or for all if it names none.
void report_unlinked(const Core& core, const std::string& error, Diagnostics& diagnostics);

}  // namespace rml
