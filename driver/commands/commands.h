// The commands of rmlc (docs/manual/commands.md), one function and one file each.
//
// A command works on an Invocation: the session of the compiler, and the form in which its user wants messages. It
// returns the exit status it would have without errors; diagnostics make it 1.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "driver/base/exit_status.h"
#include "driver/base/installation.h"
#include "driver/checks/evaluation_metrics.h"
#include "runtime/stream_io/reading.h"

namespace rml {

enum class ErrorFormat : std::uint8_t { human, json, sarif };

struct Invocation {
  Session session = Session(own_resources());
  ErrorFormat error_format = ErrorFormat::human;
  bool color = false;
  bool time_passes = false;

  // Prints diagnostics that have not been printed yet. A command calls this before it runs a program.
  void print_diagnostics();
  void print_times() const;

 private:
  // Number of printed diagnostics; empty: nothing printed yet, not even an empty list.
  std::optional<std::size_t> printed_;
};

// Runs the command on a deep stack, prints its diagnostics, and turns exceptions into internal errors. Returns the exit
// status of the process.
int run_command(Invocation& invocation, const std::function<int(Invocation&)>& command);

struct BuildRequest {
  std::string file, output, emit = "exe";
  std::vector<std::string> libraries;
  std::vector<std::string> linked_later;  // external functions that the user will link to the result
  bool mqtt = false;
  std::string mpi;     // openmpi, mpich or any; empty: the program does not run under mpirun
  bool ranks = false;  // the program gets an option --ranks
  bool lanes = false;  // the library gets functions that step states side by side
};
int build(Invocation&, const BuildRequest&);

struct RunRequest {
  std::string file;
  Engine engine = Engine::compiled;
  std::vector<std::string> libraries;
  std::vector<std::string> program_arguments;
  std::int64_t horizon = 0;
  bool unsimplified = false;  // the reference engine evaluates the equations before simplification
};
int run(Invocation&, const RunRequest&);
// Runs a program in memory as `rmlc build` would have built it. `arguments` holds its name and its options.
int run_in_memory(const Session&, const rml_program&, std::vector<std::string> arguments,
                  const std::vector<std::string>& libraries);

struct EvalRequest {
  std::string file;
  bool progressive = false;
  std::vector<WantedMetric> metrics;
  EvaluationSpan over;
  Engine engine = Engine::compiled;
  std::vector<std::string> libraries;
  std::vector<std::string> program_arguments;
};
int evaluate(Invocation&, const EvalRequest&);

struct ImportRequest {
  std::string file, output;  // names of files; empty output: the model's name with .rml
};
int import_file(Invocation&, const ImportRequest&);

struct CompareRequest {
  std::string file, input, library;  // names of files; input is a folder with input_I.pb, or empty: random values
  std::uint64_t seed = 0;
  double relative_tolerance = 1e-3, absolute_tolerance = 1e-5;
};
int compare_model(Invocation&, const CompareRequest&);

struct ExportRequest {
  std::string file, output;  // names of files; empty output: the node's name with .onnx
};
int export_node(Invocation&, const ExportRequest&);

struct CheckRequest {
  std::vector<std::string> files;
  bool signatures = false;
};
int check_files(Invocation&, const CheckRequest&);

struct ShowRequest {
  std::string phase, file, output;
  std::string after;  // name of a pass; the program after this pass is shown, instead of a phase
  std::optional<std::size_t> depth;
  std::optional<std::uint32_t> ranks;
};
inline constexpr const char* shown_phases[] = {"ast",   "core",  "clocks", "schedule", "steps", "loops",
                                               "tasks", "ranks", "llvm",   "asm",      "graph"};
int show(Invocation&, const ShowRequest&);

struct OptRequest {
  std::vector<std::string> passes;
  bool list = false, keep_watches = false;
};
int run_passes(Invocation&, const OptRequest&);

struct DiffRequest {
  std::string file, output;  // names of files; empty output: standard output
};
int show_derivative(Invocation&, const DiffRequest&);

struct GradientRequest {
  std::string file;
  std::vector<std::string> inputs;  // files with inputs; empty: random inputs
  std::vector<std::string> libraries;
  Engine engine = Engine::reference;
  std::int64_t cycles = -1;
  std::uint64_t seed = 0;
  double tolerance = 1e-6;
};
int check_gradient(Invocation&, const GradientRequest&);

struct TraceRequest {
  std::string file;
  std::vector<std::string> inputs, outputs;  // files with rows, as for a program: FILE or NAME=FILE
  std::string format;                        // the format of standard input and output; empty: a chronogram
  rt::Reading reading;
  std::vector<std::string> watches;
  std::vector<std::string> libraries;
  std::int64_t cycles = -1;
  std::uint64_t seed = 0;
};
int trace(Invocation&, const TraceRequest&);

struct TestRequest {
  std::vector<std::string> paths;
  bool bless = false, brief = false, on_demand = false;
  unsigned workers = 0;  // number of workers; 0: one per core
  std::uint32_t threads = 1;
  double relative_tolerance = 1e-3, absolute_tolerance = 1e-7;  // tolerances for ONNX cases
  std::vector<std::string> states;                              // states for ONNX cases, as INPUT=OUTPUT
};
int test(Invocation&, const TestRequest&);
// Runs these tests and prints the failures; returns how many tests failed.
std::size_t run_tests(const std::vector<std::filesystem::path>& files, const TestRequest&, std::ostream& out);

struct FormatRequest {
  std::vector<std::string> files;
  bool check = false;
};
int format_files(Invocation&, const FormatRequest&);

struct ExplainRequest {
  std::string topic;  // topic to explain; empty: the index
  std::string word;   // word to search in all topics; empty: none
};
int explain_topic(Invocation&, const ExplainRequest&);

struct DocRequest {
  std::vector<std::string> paths;
  std::string output, title;  // empty output: standard output
  bool require_examples = false;
  double tolerance = 1e-6;  // relative tolerance between the rows of an example and those of its program
};
int document(Invocation&, const DocRequest&);

// Prints the licenses of everything that rmlc and the programs it makes are linked with: the file NOTICE.
int print_licenses(Invocation&);

// Parses argv and runs its command; returns the exit status.
int command_line(int argc, char** argv);

}  // namespace rml
