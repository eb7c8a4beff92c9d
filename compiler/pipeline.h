// The compiler, phase by phase.
//
//   parse      file -> Program                       frontend
//   check      Program -> Front                      names, dtypes, clocks of every node
//   elaborate  Front, entry -> Elaborated            one node instantiated: core, productivity
//   arrange    Elaborated -> Arranged                static schedule, validated
//   lower      Arranged -> steps::Program            loops and buffers
//   make_loops steps::Program -> loops::Program      element by element, where something else than LLVM follows
//   emit       steps::Program -> CompiledModule      LLVM
//
// Each stage type is made only by its phase and is nothing when that phase reported an
// error. A phase never prints: what the user is told collects in the Session.
// Errors made after `arrange` are the compiler's: they end as InternalError.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "compiler/session.h"
#include "frontend/ast.h"
#include "frontend/diagnostic.h"
#include "frontend/parse.h"
#include "frontend/source.h"
#include "lowering/llvm/emit.h"
#include "lowering/loops/loops.h"
#include "lowering/schedule/passes.h"
#include "lowering/schedule/schedule.h"
#include "lowering/steps/steps.h"
#include "semantics/check/checked.h"
#include "semantics/core/core.h"
#include "semantics/instantiate/instantiate.h"
#include "semantics/simplify/simplify.h"
#include "semantics/time/productivity.h"

namespace rml {

// Stage types are made by their phase alone: who has one knows that the phase was passed.
class Front {
 public:
  std::unique_ptr<Program> program;  // Checked points into it
  Checked checked;

 private:
  Front(std::unique_ptr<Program> p, Checked c) : program(std::move(p)), checked(std::move(c)) {}
  friend Front check_tree(Translation&);
};

struct ElaborateOptions {
  bool keep_watches = false;  // keep what only `watches` need (rmlc trace)
  bool productivity = true;
  // false: the core as it was before simplification, with what optimisers sum over parameters joined. The reference
  // engine evaluates it with Failing::where_needed.
  bool simplified = true;
};

class Elaborated {
 public:
  std::shared_ptr<const Core> core;
  Productivity productivity;

 private:
  Elaborated(std::shared_ptr<const Core> c, Productivity p) : core(std::move(c)), productivity(std::move(p)) {}
  friend std::optional<Elaborated> finish_core(Translation&, const ElaborateOptions&);
};

// Why a program is evaluated where it is asked for, in words for the user, and the equation concerned.
struct Unscheduled {
  std::string reason;
  Span span;
};

class Arranged {
 public:
  Schedule schedule;                     // holds the core it is about
  std::optional<Unscheduled> on_demand;  // then the schedule has that core and nothing else

 private:
  explicit Arranged(Schedule s, std::optional<Unscheduled> u = std::nullopt)
      : schedule(std::move(s)), on_demand(std::move(u)) {}
  friend std::optional<Arranged> arrange(Session&, const Elaborated&, Diagnostics&);
};

// Parses `file` ("-": standard input; M.onnx: what a model is imported as) and checks every node of every file it
// imports. Of a file with errors the tables are still safe to look at.
Front check(Session& session, const std::filesystem::path& file);
Front check_text(Session& session, const std::string& name, const std::string& text);
// Only the first half, for those who want the tree: applies -D as well.
std::unique_ptr<Program> parse(Session& session, const std::filesystem::path& file);

// The entry node: --node, `main`, or the only node of the file; E0901 if there is none.
std::optional<NodeId> find_entry(Session& session, const Front& front);
std::optional<NodeId> find_node(const Front& front, const std::string& name);

// Reports into `diagnostics`, which may be another collector than the Session's.
std::optional<Elaborated> elaborate(Session& session, const Front& front, NodeId entry, const ElaborateOptions& options,
                                    Diagnostics& diagnostics);
// The same from a core that was made of a node and is causal: simplified, numerically stable, without operators that
// are defined by others, productive.
std::optional<Elaborated> elaborate(Session& session, Core core, const ElaborateOptions& options,
                                    Diagnostics& diagnostics);
std::optional<Arranged> arrange(Session& session, const Elaborated& elaborated, Diagnostics& diagnostics);
// The schedule that `arrange` judges: segments end as is said, rows may be held back, and what it assumes may not hold.
std::optional<Schedule> schedule_core(Session&, const Core&, Segmenting, Diagnostics&);
steps::Program lower(Session& session, const Arranged& arranged);
// Nothing where something has no loops (E0903 is reported). The steps outlive them.
std::optional<loops::Program> make_loops(Session& session, const steps::Program& program);
// Nothing when LLVM does not know the target (E0903 is reported); it throws when code generation is at fault.
std::unique_ptr<CompiledModule> emit_module(Session& session, const steps::Program& program, EmitOptions options);

// All of it, for commands that need everything; nothing when an error was reported.
class Lowered {
 public:
  Front front;
  std::shared_ptr<const Core> core;
  steps::Program program;

 private:
  Lowered(Front f, std::shared_ptr<const Core> c, steps::Program p)
      : front(std::move(f)), core(std::move(c)), program(std::move(p)) {}
  friend std::optional<Lowered> compile(Session&, const std::filesystem::path&);
};
std::optional<Lowered> compile(Session& session, const std::filesystem::path& file);

}  // namespace rml
