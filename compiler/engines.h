// A program ready to run, whatever runs it: both engines look like an rml_program.
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

// What of an rml_program is there besides: `run`; cells that may lie apart.
struct Extras {
  bool run = false, cells_apart = false;
};
// `libraries`: where external nodes come from that are not given (Session::foreign). Nothing when an error was reported
// (E0805 for functions that are not there, E0903 for targets LLVM does not know).
std::unique_ptr<LoadedProgram> load_compiled(Session& session, const steps::Program& program,
                                             const std::vector<std::string>& libraries, Extras extras = {});
std::unique_ptr<LoadedProgram> load_reference(Session& session, std::shared_ptr<const Core> core,
                                              const std::vector<std::string>& libraries,
                                              Failing = Failing::where_present);

// How the reference engine calls external nodes; empty when there are none. Nothing (E0805)
// when a function is not in the libraries. What it holds keeps them loaded.
std::optional<CallExternal> external_caller(Session& session, const Core& core,
                                            const std::vector<std::string>& libraries);

// Reports E0805 for the external nodes that `error` names, or for all if it names none.
void report_unlinked(const Core& core, const std::string& error, Diagnostics& diagnostics);

}  // namespace rml
