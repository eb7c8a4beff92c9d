// The compiler, phase by phase.
//
//   parse      file -> Program                       frontend
//   check      Program -> Front                      names, dtypes, clocks of every node
//   elaborate  Front, entry -> Elaborated            one node instantiated: core, productivity
//   arrange    Elaborated -> Arranged                static schedule, validated
//   lower      Arranged -> steps::Program            loops and buffers
//   make_loops steps::Program -> loops::Program      element by element, where something else than LLVM follows
//   make_loops steps::Program -> loops::Program      loops over elements, for every back end except LLVM
//   emit       steps::Program -> CompiledModule      LLVM
//
// Only its phase can construct a stage type, and the phase returns nothing if it reported an
// error. A phase never prints: diagnostics are collected in the Session. An error found after
// `arrange` is an error of the compiler and ends as an InternalError.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "compiler/constant_definitions.h"
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

// Only its phase constructs a stage type, so an object of the type proves that the phase
// succeeded.
class Front {
 public:
  std::unique_ptr<Program> program;  // the program into which `checked` points
  Checked checked;
  std::optional<SpecialisedNode> specialised;  // the entry, if -D gives values to some of its inputs

  // Returns the copy of a node in which -D gives values to inputs, or the node itself if there is none.
  NodeId as_entry(NodeId node) const { return specialised && specialised->of == node ? specialised->node : node; }

 private:
  Front(std::unique_ptr<Program> p, Checked c, std::optional<SpecialisedNode> s)
      : program(std::move(p)), checked(std::move(c)), specialised(std::move(s)) {}
  friend Front check_tree(Translation&);
};

struct ElaborateOptions {
  bool keep_watches = false;  // keep values that only `watches` need (for rmlc trace)
  bool productivity = true;
  // false: keep the core as it was before simplification, but with the updates that optimisers
  // sum over parameters joined. The reference engine evaluates this core with
  // Failing::where_needed.
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

// The reason why a program is evaluated on demand, in words for the user, and the equation
// concerned.
struct Unscheduled {
  std::string reason;
  Span span;
};

class Arranged {
 public:
  Schedule schedule;  // the schedule, which includes the core that it orders
  // If it is set, the program runs on demand; the schedule has a core and no units.
  std::optional<Unscheduled> on_demand;

 private:
  explicit Arranged(Schedule s, std::optional<Unscheduled> u = std::nullopt)
      : schedule(std::move(s)), on_demand(std::move(u)) {}
  friend std::optional<Arranged> arrange(Session&, const Elaborated&, Diagnostics&);
};

// Parses `file` and checks every node of every file that it imports. `file` may be "-" for
// standard input, or M.onnx for the program as which a model is imported. The tables of a file
// with errors may still be read.
Front check(Session& session, const std::filesystem::path& file);
Front check_text(Session& session, const std::string& name, const std::string& text);
// Returns the tree after parsing and -D. It has not been checked.
std::unique_ptr<Program> parse(Session& session, const std::filesystem::path& file);

// Returns the entry node: --node, `main`, or the only node of the file, as the copy that -D makes
// if it gives values to inputs. Reports E0901 if there is none.
std::optional<NodeId> find_entry(Session& session, const Front& front);
std::optional<NodeId> find_node(const Front& front, const std::string& name);

// Reports errors into `diagnostics`, which may differ from the Session's.
std::optional<Elaborated> elaborate(Session& session, const Front& front, NodeId entry, const ElaborateOptions& options,
                                    Diagnostics& diagnostics);
// Elaborates a core that was made of a node and is causal. The result is simplified,
// numerically stable, productive, and free of operators that are defined by others.
std::optional<Elaborated> elaborate(Session& session, Core core, const ElaborateOptions& options,
                                    Diagnostics& diagnostics);
std::optional<Arranged> arrange(Session& session, const Elaborated& elaborated, Diagnostics& diagnostics);
// Returns a schedule that `arrange` may still reject: segments end as the argument says, rows may
// be withheld, and the assumptions of the schedule may be false.
std::optional<Schedule> schedule_core(Session&, const Core&, Segmenting, Diagnostics&);
steps::Program lower(Session& session, const Arranged& arranged);
// Returns nothing and reports E0903 if an operator has no loops. The steps must outlive the
// loops.
std::optional<loops::Program> make_loops(Session& session, const steps::Program& program);
// Returns null and reports E0903 if LLVM does not know the target. Throws if code generation
// fails.
std::unique_ptr<CompiledModule> emit_module(Session& session, const steps::Program& program, EmitOptions options);

// All phases, for commands that need every result. Returns nothing if an error was reported.
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
