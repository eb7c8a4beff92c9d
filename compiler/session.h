// What one use of the compiler is told and what it says: all that its phases share.
//
// A session stands for itself. Nothing that it reads or writes belongs to the process, so sessions in different threads
// do not meet: the folder of the standard library and the functions of external nodes are given to it, what the user
// is told collects in it. It serves one program after another as well, in one thread at a time.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loaded_files.h"
#include "frontend/diagnostic.h"
#include "frontend/source.h"
#include "lowering/llvm/emit.h"
#include "lowering/schedule/schedule.h"
#include "runtime/checkpoint/parameter_file.h"
#include "semantics/values/limits.h"

namespace rml {

struct Pass;
struct Translation;

// Of ONNX models that are compiled as they are: texts of the command line.
struct ModelOptions {
  std::vector<std::string> dimensions, fixed, states, trainable;  // --dim N=1, --fix x=[1], --state IN=OUT, …
  std::vector<std::string> streams;                               // --stream AXIS, --stream INPUT.AXIS
  bool all_values = false;                                        // each is an output
};

// Which programs are evaluated where they are asked for (lowering/demand/on_demand.h), and not by a schedule.
enum class OnDemand : std::uint8_t {
  never,         // what has no schedule is refused: E0701
  where_needed,  // those that have none
  always,        // for tests
};

// Which rows may leave before the inputs of their cycle are read (lowering/steps/leading.h).
enum class EarlyRows : std::uint8_t {
  never,        // outputs are files
  by_schedule,  // those that a straight program knows
  all,          // on demand, where the schedule does not see all
};

struct CompileOptions {
  std::vector<std::string> definitions;               // -D NAME=VALUE
  std::vector<std::filesystem::path> import_folders;  // -I
  std::string node;                                   // --node; empty: main or the only one
  std::vector<std::string> watches;                   // --watch: patterns of names
  std::vector<std::string> frozen;                    // --freeze: patterns of parameters
  std::vector<std::string> gathered;                  // … whose gradients are added up
  rt::ParameterSource parameters;                     // --load-params of what is compiled; no file: none
  bool stabilise = true;                              // --no-stabilise
  TargetOptions target;
  bool whole_segment = false;  // --chunk segment
  Grain grain = Grain::none;   // of a network, its tasks
  OnDemand on_demand = OnDemand::where_needed;
  EarlyRows early_rows = EarlyRows::by_schedule;
  bool for_ranks = false;  // what is dealt is shared by ranks, which the program asks and which meet in its sums
  ModelOptions model;
  Limits limits;  // --limit NAME=N
};

// What the compiler reads besides the program.
struct Resources {
  std::filesystem::path stdlib;                            // the folder with the modules of the standard library
  std::vector<std::filesystem::path> import_folders = {};  // searched behind those of -I
};

struct Session {
  explicit Session(Resources given) : resources(std::move(given)) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Resources resources;
  CompileOptions options;
  FindFunction foreign;  // finds functions of external nodes in memory; may be none: then files have them all
  SourceMap sources;
  Diagnostics diagnostics;
  std::shared_ptr<LoadedFiles> files = std::make_shared<LoadedFiles>(sources);  // of load(…)
  std::vector<std::string> told;                                        // lines for the caller that requested them
  std::vector<std::pair<std::string, std::chrono::nanoseconds>> times;  // by pass, in order
  std::function<void(const Pass&, Translation&)> watch;                 // sees what every pass makes

  bool failed() const { return diagnostics.has_errors(); }
  // Every file that has been read so far.
  std::vector<std::string> files_read() const;
};

}  // namespace rml
