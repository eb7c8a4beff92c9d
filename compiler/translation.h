// A program between two passes.
//
// It has one form at a time. A pass (passes.h) takes that form out and stores the form that it
// makes. A form contains everything that later passes need of the forms before it; for example, a
// schedule holds its core. Only the code that runs passes includes this file: the passes themselves
// take forms and options.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "compiler/constant_definitions.h"
#include "compiler/session.h"
#include "frontend/ast.h"
#include "lowering/loops/loops.h"
#include "lowering/schedule/check/exactness.h"
#include "lowering/schedule/passes.h"
#include "lowering/segment/segment.h"
#include "lowering/steps/steps.h"
#include "semantics/check/checked.h"
#include "semantics/core/core.h"
#include "semantics/time/productivity.h"

namespace rml {

struct Translation {
  Translation(Session&, Diagnostics&);
  Translation(const Translation&) = delete;
  Translation& operator=(const Translation&) = delete;
  ~Translation();

  Session& session;
  Diagnostics& diagnostics;  // collects the messages; may differ from the session's
  bool of_part = false;      // true for a body of an iteration, and for a program made only to look up a property
  bool timed = true;         // false inside another pass, which is timed itself
  bool keep_watches = false;
  Segmenting segmenting;             // which conditions may end segments, and which components share them
  std::shared_ptr<CutsOfCore> cuts;  // cuts of the core; callers that try several schedules share them
  const Core* given = nullptr;       // the core before retiming, for a schedule; null: the schedule's own core
  std::optional<Inexact> inexact;    // result of the pass check_exactness
  bool changed = true;               // set by the last pass; a pass that cannot detect changes leaves it true
  std::string violation;             // the error in the compiler that the last pass found
  std::optional<NodeId> entry;

  // The source: the name of its file, and its text.
  std::string file;
  std::optional<std::string> text;  // the text of the program; none: the text of the file
  // The tree and the results of its checks, which point into it.
  std::unique_ptr<Program> program;
  std::optional<SpecialisedNode> specialised;  // the entry, if -D gives values to some of its inputs
  Checked checked;
  const Checked* front = nullptr;  // the checked tree to instantiate, if another object owns it; else null
  // The later form of the program that the last pass has made.
  std::variant<std::monostate, Core, Schedule, Segments, steps::Program, loops::Program> form;
  Productivity productivity;
  EmitOptions emit;
  const steps::Program* emitted = nullptr;  // the steps to emit, if another object owns them; else null
  std::unique_ptr<CompiledModule> module;

  bool has_form() const { return form.index() != 0; }
  Core& core() { return std::get<Core>(form); }
  Schedule& schedule() { return std::get<Schedule>(form); }
  Segments& segments() { return std::get<Segments>(form); }
  steps::Program& steps() { return std::get<steps::Program>(form); }
  loops::Program& loops() { return std::get<loops::Program>(form); }

  // Facts about the core of a schedule, computed once for all passes over it.
  const ScheduleFacts& facts(const std::shared_ptr<const Core>&, const std::vector<ValueId>& ends = {});
  const ScheduleFacts& facts(const Schedule& s) { return facts(s.core, segment_ends(s)); }

 private:
  std::optional<ScheduleFacts> facts_;
  std::shared_ptr<const Core> facts_of_;
};

}  // namespace rml
