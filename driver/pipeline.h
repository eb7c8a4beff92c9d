// The compiler, phase by phase.
//
//   parse      file -> Program                       frontend
//   check      Program -> Front                      names, dtypes, clocks of every node
//   elaborate  Front, entry -> Elaborated            one node instantiated: core, productivity
//   arrange    Elaborated -> Arranged                static schedule, validated
//   lower      Arranged -> steps::Program            loops and buffers
//   emit       steps::Program -> CompiledModule      LLVM
//
// Each stage type is made only by its phase and is nothing when that phase reported an
// error. A phase never prints: what the user is told collects in the Compilation.
// Errors made after `arrange` are the compiler's: they end as InternalError.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/loaded_files.h"
#include "frontend/ast.h"
#include "frontend/diagnostic.h"
#include "frontend/parse.h"
#include "frontend/source.h"
#include "lowering/llvm/emit.h"
#include "lowering/schedule.h"
#include "lowering/steps.h"
#include "semantics/checked.h"
#include "semantics/core.h"
#include "semantics/instantiate.h"
#include "semantics/productivity.h"

namespace rml {

// Of ONNX models that are compiled as they are: texts of the command line.
struct ModelOptions {
  std::vector<std::string> dimensions, fixed, states, trainable;  // --dim N=1, --fix x=[1], --state IN=OUT, …
  std::vector<std::string> streams;                               // --stream AXIS, --stream INPUT.AXIS
  bool all_values = false;                                        // each is an output
};

struct CompileOptions {
  std::vector<std::string> definitions;               // -D NAME=VALUE
  std::vector<std::filesystem::path> import_folders;  // -I
  std::string node;                                   // --node; empty: main or the only one
  std::vector<std::string> watches;                   // --watch: patterns of names
  bool stabilise = true;                              // --no-stabilise
  TargetOptions target;
  bool whole_segment = false;  // --chunk segment
  Grain grain = Grain::none;   // of a network, its tasks
  ModelOptions model;
  Limits limits;  // --limit NAME=N
};

// One run of the compiler over one file: what all phases share.
struct Compilation {
  Compilation() = default;
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  CompileOptions options;
  SourceMap sources;
  Diagnostics diagnostics;
  std::shared_ptr<LoadedFiles> files = std::make_shared<LoadedFiles>(sources);  // of load(…)
  std::vector<std::pair<std::string, std::chrono::nanoseconds>> times;          // by phase, in order

  bool failed() const { return diagnostics.has_errors(); }
  // Every file that has been read so far.
  std::vector<std::string> files_read() const;
};

struct Front {
  std::unique_ptr<Program> program;  // Checked points into it
  Checked checked;
};

struct Elaborated {
  std::shared_ptr<const Core> core;
  Productivity productivity;
};

struct Arranged {
  Schedule schedule;  // holds the core it is about
};

// Parses `file` ("-": standard input; M.onnx: what a model is imported as) and checks every node of every file it
// imports. Of a file with errors the tables are still safe to look at.
Front check(Compilation& c, const std::filesystem::path& file);
Front check_text(Compilation& c, const std::string& name, const std::string& text);
// Only the first half, for those who want the tree: applies -D as well.
std::unique_ptr<Program> parse(Compilation& c, const std::filesystem::path& file);

// The entry node: --node, `main`, or the only node of the file; E0901 if there is none.
std::optional<NodeId> find_entry(Compilation& c, const Front& front);
std::optional<NodeId> find_node(const Front& front, const std::string& name);

// Simplified, numerically stable, without operators that are defined by others.
Core improve(Compilation& c, Core core, const SimplifyOptions& options);

struct ElaborateOptions {
  bool keep_watches = false;  // keep what only `watches` need (rmlc trace)
  bool productivity = true;
};
// Reports into `diagnostics`, which may be another collector than the Compilation's.
std::optional<Elaborated> elaborate(Compilation& c, const Front& front, NodeId entry, const ElaborateOptions& options,
                                    Diagnostics& diagnostics);
std::optional<Arranged> arrange(Compilation& c, const Elaborated& elaborated, Diagnostics& diagnostics);
steps::Program lower(Compilation& c, const Arranged& arranged);
// Nothing when LLVM does not know the target (E0903 is reported).
std::unique_ptr<CompiledModule> emit_module(Compilation& c, const steps::Program& program, EmitOptions options);

// All of it, for commands that need everything; nothing when an error was reported.
struct Lowered {
  Front front;
  std::shared_ptr<const Core> core;
  steps::Program program;
};
std::optional<Lowered> compile(Compilation& c, const std::filesystem::path& file);

}  // namespace rml
