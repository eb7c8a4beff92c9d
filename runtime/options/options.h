// The command line of a compiled program (docs/manual/programs.md).
//
// parse_options checks what can be checked without opening a file; a wrong command line is a
// Failure with status 2. The help text lists the node's inputs and outputs with their types
// and clocks, so it needs the program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "runtime/stream_io/reading.h"

namespace CLI {
class App;
}

namespace rml::rt {

class Ranks;

enum class When { automatic, always, never };
enum class OnNan { ignore, tell, stop };

struct Options {
  std::vector<std::string> inputs;  // as given: F or NAME=F
  std::vector<std::string> outputs;
  std::string format;             // empty: not given
  Reading reading;                // of CSV
  std::vector<std::string> kept;  // columns of it that leave unread
  std::optional<std::int64_t> cycles;
  std::optional<std::uint64_t> seed;
  std::string key;                  // NAME[:TYPE] of the column that says whose row it is; empty: one instance
  std::vector<std::string> shared;  // … patterns of parameters that all keys have in common
  std::int64_t horizon = 0;
  std::string save, load, resume, load_params;  // files; empty: not given
  std::vector<std::string> map;                 // OLD=NEW
  bool partial = false;                         // of load_params those that are there
  std::int64_t save_every = 0;                  // cycles; 0: at the end only
  When progress = When::automatic;
  std::vector<std::uint32_t> monitored;    // outputs
  std::uint32_t own_outputs = UINT32_MAX;  // behind them: watched variables
  std::vector<std::uint32_t> watched;      // outputs, by --watch
  std::string watch_file;                  // empty: stderr
  std::string log, plot;                   // a folder, a file; empty: not given
  std::string profile;                     // a file; likewise
  OnNan on_nan = OnNan::ignore;
  std::uint32_t threads = 0;           // at most; 0: as many as the program was built for
  std::uint32_t workers = 0;           // of a network; 0: as many as processors
  std::uint64_t capacity = 0;          // elements that may wait in a ring of it; 0: by their size
  std::vector<std::string> sources;    // files that the program was made of, where they are known; nothing goes there
  std::uint32_t ranks = 1;             // threads that run the program together
  std::int64_t patience = 600;         // seconds that a rank is waited for; 0: for ever
  Ranks* among = nullptr;              // the ranks that this run is one of
  bool writes = true;                  // … and whether it is the one whose rows and state are written
  std::vector<std::string> arguments;  // all of the command line
  bool stats = false;
  bool quiet = false;
  // Where the state goes; empty: nowhere.
  const std::string& state_file() const { return writes && !resume.empty() ? resume : save; }
  // Not empty: print this and stop (--help, --version).
  std::string print_only;
};

// Options that any command may have which reads or writes rows: the format of stdin and stdout, and how CSV is read.
void add_format_option(CLI::App& app, std::string& format, const char* text);
void add_reading_options(CLI::App& app, Reading& reading);
// What is wrong with a name that an option gives; empty: nothing. An option that is given an empty text (a variable of
// a shell that is not set) would count as not given.
std::string complaint_of_name(const std::string& name);
// … with a number of cycles or rows, and with a seed: neither is negative or larger than its type.
std::string complaint_of_count(const std::string& text);
std::string complaint_of_seed(const std::string& text);

Options parse_options(const rml_program& program, int argc, const char* const* argv);

}  // namespace rml::rt
