// The state that all phases of one use of the compiler share: its options, resources, sources and
// diagnostics.
//
// A session depends on no state of the process, so sessions in different threads do not
// interfere. The folder of the standard library and the functions of external nodes are given to
// it. A session may compile several programs one after the other, in one thread at a time.
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

namespace onnx {
struct Model;
struct ImportOptions;
struct Imported;
}  // namespace onnx

struct Pass;
struct Resources;
struct Translation;

// Options for ONNX models that are compiled directly, as texts of the command line.
struct ModelOptions {
  std::vector<std::string> dimensions, fixed, states, trainable;  // texts of the options --dim N=1, --fix x=[1],
                                                                  // --state IN=OUT and --trainable
  std::vector<std::string> streams;                               // texts of the option --stream: AXIS or INPUT.AXIS
  bool all_values = false;                                        // true: every value of the model becomes an output
};

// Decides which programs are evaluated on demand (lowering/demand/on_demand.h) instead of by a
// schedule.
enum class OnDemand : std::uint8_t {
  never,         // a program without a schedule is refused, with E0701
  where_needed,  // a program without a schedule is run on demand
  always,        // every program runs on demand; for tests
};

// Decides which rows may be written before the inputs of their cycle are read
// (lowering/steps/leading.h).
enum class EarlyRows : std::uint8_t {
  never,        // no row is written early; used if outputs are written to files
  by_schedule,  // only rows that a straight program knows early
  all,          // all rows known early; if the schedule misses some, the program runs on demand
};

struct CompileOptions {
  std::vector<std::string> definitions;               // -D NAME=VALUE
  std::vector<std::filesystem::path> import_folders;  // -I
  std::string node;                                   // from --node; empty: `main`, or the only node
  std::vector<std::string> watches;                   // from --watch: patterns of names
  std::vector<std::string> frozen;                    // from --freeze: patterns of parameters
  std::vector<std::string> tunable;                   // --tunable: constants that are parameters
  bool settable = false;                              // the caller sets parameters in the state
  std::vector<std::string> gathered;                  // patterns of parameters whose gradients are summed
  rt::ParameterSource parameters;                     // from --load-params, for the compiled program; no file: none
  bool stabilise = true;                              // false if --no-stabilise is given
  TargetOptions target;
  bool whole_segment = false;  // true for --chunk segment
  Grain grain = Grain::none;   // how a network is divided into tasks; none: not a network
  OnDemand on_demand = OnDemand::where_needed;
  EarlyRows early_rows = EarlyRows::by_schedule;
  bool for_ranks = false;  // ranks share the dealt rows and exchange the sums over them
  ModelOptions model;
  Limits limits;  // from --limit NAME=N
};

// Checks that an imported model may run as a stream (models/check_stream.h). The check compiles and
// runs programs, so it lies above the passes, and the one that imports models is given it.
using CheckStream = std::string(const onnx::Model&, const onnx::ImportOptions&, const onnx::Imported& streamed,
                                const Resources&);

// What the compiler uses besides the program.
struct Resources {
  std::filesystem::path stdlib;                            // folder with the modules of the standard library
  std::vector<std::filesystem::path> import_folders = {};  // folders of imports, searched after those of -I
  CheckStream* what_mixes_steps = nullptr;                 // needed for models that are imported as streams
};

struct Session {
  explicit Session(Resources given) : resources(std::move(given)) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Resources resources;
  CompileOptions options;
  FindFunction foreign;  // finds functions of external nodes in memory; empty: functions come from files only
  SourceMap sources;
  Diagnostics diagnostics;
  std::shared_ptr<LoadedFiles> files = std::make_shared<LoadedFiles>(sources);  // the files that load(…) reads
  std::vector<std::string> told;                                        // lines of text for the caller that requested
                                                                        // them
  std::vector<std::pair<std::string, std::chrono::nanoseconds>> times;  // time of each pass, in the order of the runs
  std::function<void(const Pass&, Translation&)> watch;                 // called after every pass

  bool failed() const { return diagnostics.has_errors(); }
  // All files that have been read so far.
  std::vector<std::string> files_read() const;
};

}  // namespace rml
