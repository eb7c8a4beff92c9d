// A program on its way through the compiler: what the passes so far have made of it.
//
// It is in one form at a time. A pass (passes.h) takes that form out and leaves the one that it makes; what a form says
// of the one before (a schedule holds its core) goes with it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "compiler/session.h"
#include "frontend/ast.h"
#include "lowering/loops/loops.h"
#include "lowering/schedule/exactness.h"
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
  Diagnostics& diagnostics;  // may be another collector than the session's
  bool of_part = false;      // the body of an iteration, or a program that is made to look something up
  bool timed = true;         // not what another pass runs
  bool keep_watches = false;
  Segmenting segmenting;             // what may end segments, and share them
  std::shared_ptr<CutsOfCore> cuts;  // of the core that schedules are made of: a caller that tries several shares them
  const Core* given = nullptr;     // of a schedule: the core that it was made of, before any was retimed; null: its own
  std::optional<Inexact> inexact;  // what check_exactness found
  bool changed = true;             // by the last pass; those that cannot tell leave it
  std::string violation;           // the error of the compiler that the last pass found
  std::optional<NodeId> entry;

  // Text.
  std::string file;
  std::optional<std::string> text;  // nothing: the file's
  // Trees, and what is known of them; Checked points into the program.
  std::unique_ptr<Program> program;
  Checked checked;
  const Checked* front = nullptr;  // what is instantiated, where somebody else keeps it
  // The rest.
  std::variant<std::monostate, Core, Schedule, Segments, steps::Program, loops::Program> form;
  Productivity productivity;
  EmitOptions emit;
  const steps::Program* emitted = nullptr;  // likewise
  std::unique_ptr<CompiledModule> module;

  bool has_form() const { return form.index() != 0; }
  Core& core() { return std::get<Core>(form); }
  Schedule& schedule() { return std::get<Schedule>(form); }
  Segments& segments() { return std::get<Segments>(form); }
  steps::Program& steps() { return std::get<steps::Program>(form); }
  loops::Program& loops() { return std::get<loops::Program>(form); }

  // Of the core that a schedule is about: the passes over it look up the same.
  const ScheduleFacts& facts(const std::shared_ptr<const Core>&, const std::vector<ValueId>& ends = {});
  const ScheduleFacts& facts(const Schedule& s) { return facts(s.core, segment_ends(s)); }

 private:
  std::optional<ScheduleFacts> facts_;
  std::shared_ptr<const Core> facts_of_;
};

}  // namespace rml
