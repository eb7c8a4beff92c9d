// The command line of a compiled program (docs/manual/programs.md).
//
// parse_options checks everything that can be checked without opening a file; a wrong command
// line is a Failure with status 2. The help text lists the inputs and outputs of the node with
// their types and clocks, so it needs the program.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "runtime/options/plot_address.h"
#include "runtime/options/training_options.h"
#include "runtime/stream_io/reading.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace rml::rt {

class Ranks;

enum class When { automatic, always, never };
enum class OnNan { ignore, tell, stop };

struct Options {
  std::vector<std::string> inputs;  // input files as given: FILE or NAME=FILE
  std::vector<std::string> outputs;
  std::string format;             // format of standard input and output; empty: not given
  Reading reading;                // for CSV
  std::vector<std::string> kept;  // columns of CSV that are copied to the output
  std::string bad_rows;           // a file that receives skipped rows; empty: not given
  std::optional<std::int64_t> cycles;
  std::optional<std::uint64_t> seed;
  std::string key;                  // NAME[:TYPE] of the key column; empty: the program has one instance
  std::vector<std::string> shared;  // patterns of parameters that all keys share
  std::int64_t horizon = 0;
  TrainingOptions training;
  std::string save, load, resume, load_params;  // files of the state and of parameters; empty: not given
  std::vector<std::string> map;                 // renamings OLD=NEW
  bool partial = false;                         // load_params may lack parameters
  bool cast_params = false;                     // load_params may have wider floats
  bool append = false;                          // output files keep their rows
  bool overwrite = false;                       // with load: replace files that the state does not record
  std::int64_t save_every = 0;                  // cycles between saves; 0: not given
  std::chrono::nanoseconds save_period{0};      // time between saves; 0: not given
  When progress = When::automatic;
  std::vector<std::uint32_t> monitored;  // indices of the outputs to monitor
  // number of the node's own outputs; watched variables follow
  std::uint32_t own_outputs = UINT32_MAX;
  std::vector<std::uint32_t> watched;  // outputs that --watch names
  std::string watch_file;              // file for watched values; empty: standard error
  std::string log;                     // a folder; empty: not given
  PlotAddress plot;
  std::vector<std::string> plot_also;  // files with the rows of earlier runs
  std::string profile;                 // file for the profile; empty: not given
  OnNan on_nan = OnNan::ignore;
  std::uint32_t threads = 0;           // maximum number of threads; 0: the number that the program was built for
  std::uint32_t workers = 0;           // worker threads of a network; 0: number of processors
  std::uint64_t capacity = 0;          // elements that may wait in a ring; 0: depends on their size
  std::vector<std::string> sources;    // source files of the program, if known; never overwritten
  std::uint32_t ranks = 1;             // number of threads that run the program together
  std::int64_t rank_patience = 600;    // seconds to wait for a rank; 0: for ever
  Ranks* among = nullptr;              // the ranks of this run; null: it runs alone
  bool writes = true;                  // this rank writes rows and state
  std::vector<std::string> arguments;  // the whole command line
  bool stats = false;
  std::chrono::nanoseconds stats_every{0};  // 0: not given
  std::string metrics;                      // an address; empty: not given
  bool quiet = false;
  // The file to which the state is saved; empty: the state is not saved.
  const std::string& state_file() const { return writes && !resume.empty() ? resume : save; }
  // If not empty, print this and stop (--help, --version).
  std::string print_only;
};

// Options that any command may have which reads or writes rows: the format of stdin and stdout, and how CSV is read.
CLI::Option* add_format_option(CLI::App& app, std::string& format, const char* text);
void add_reading_options(CLI::App& app, Reading& reading, const std::string& group = "Options");

// The options that any program has, in their groups, as its help prints them, and their names; without those named in
// `except`.
std::string options_help(const std::vector<std::string>& except);
// A help text as CLI11 prints it, with its descriptions in lines of at most 100 columns.
std::string wrapped_help(const std::string& help);
// What is wrong with an option that no program has; empty: nothing. `rmlc run` asks before it compiles.
std::string complaint_of_options(const std::vector<std::string>& arguments);
std::vector<std::string> option_names(const std::vector<std::string>& except);

Options parse_options(const rml_program& program, int argc, const char* const* argv);

}  // namespace rml::rt
