// The options of a program, in groups that its help shows in this order, and their checks. CLI11 splits and converts
// the command line; this file words the messages about unknown names.
#include "runtime/options/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstring>
#include <sstream>
#include <utility>

#include "runtime/base/duration.h"
#include "runtime/base/failure.h"
#include "runtime/base/key_table.h"
#include "runtime/base/parallel.h"
#include "runtime/base/pattern.h"
#include "runtime/options/complaints.h"
#include "runtime/ranks/mpi/library.h"
#include "runtime/stream_io/row.h"
#include "runtime/stream_io/spelling.h"

#ifndef RML_VERSION
#define RML_VERSION "unknown"
#endif

namespace rml::rt {
namespace {

// Ranks as threads of one process: more than today's machines have processors.
constexpr std::uint32_t most_ranks = 256;

std::string list_ports(const char* title, const rml_port* ports, std::uint32_t count) {
  if (count == 0) return std::string(title) + ": none\n";
  std::size_t names = 0;
  std::size_t types = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    names = std::max(names, std::strlen(ports[i].name));
    types = std::max(types, type_text(ports[i]).size());
  }
  std::string text = std::string(title) + ":\n";
  for (std::uint32_t i = 0; i < count; ++i) {
    std::string name(ports[i].name);
    std::string type = type_text(ports[i]);
    name.resize(names, ' ');
    type.resize(types, ' ');
    text += "  " + name + "  " + type + "  " + ports[i].clock + "\n";
  }
  return text;
}

std::string description(const rml_program& program) {
  return "Runs node '" + std::string(program.name) + "' of " + program.source + ".\n\n" +
         list_ports("Inputs (name, type, clock)", program.inputs, program.n_inputs) + "\n" +
         list_ports("Outputs", program.outputs, program.n_outputs - program.n_watched) +
         (program.n_watched == 0 ? ""
                                 : "\n" + list_ports("Watched", program.outputs + program.n_outputs - program.n_watched,
                                                     program.n_watched));
}

std::string examples(const rml_program& program, const std::string& command) {
  std::string text = "Examples:\n";
  if (program.n_inputs == 0) {
    text += "  " + command + " --cycles 100\n";
    text += "  " + command + " --cycles 100 --output rows.csv --stats\n";
    return text;
  }
  text += "  " + command + " < rows.csv > results.csv\n";
  text += "  " + command + " --input rows.csv --output results.npz --stats\n";
  // A .npy file can only hold streams that are present at every cycle.
  text += "  " + command + " --input " + program.inputs[0].name +
          (program.inputs[0].always ? "=values.npy" : "=values.csv");
  text += program.n_inputs > 1 ? " --input others.csv.gz\n" : "\n";
  text += "  " + command + " --input trace.chron --format chron\n";
  return text;
}

std::string version_text(const rml_program& program) {
  return std::string(program.name) + " (" + program.source + "), rmlc runtime " RML_VERSION ", ABI " +
         std::to_string(program.abi) + "\n";
}

std::uint32_t monitored_output(const rml_program& program, const std::string& name) {
  std::vector<std::string> scalars;
  for (std::uint32_t i = 0; i < program.n_outputs; ++i) {
    if (program.outputs[i].rank == 0) scalars.emplace_back(program.outputs[i].name);
    if (name != program.outputs[i].name) continue;
    if (program.outputs[i].rank == 0) return i;
    throw Failure("--monitor " + name + ": '" + name + "' is " + type_text(program.outputs[i]) +
                      "; only scalar outputs can be shown",
                  exit_usage);
  }
  throw Failure("--monitor " + name + ": no output '" + name + "'" + did_you_mean(name, scalars), exit_usage);
}

void add_watched(const rml_program& program, const std::string& pattern, std::vector<std::uint32_t>& to) {
  if (program.n_watched == 0)
    throw Failure(
        "--watch " + pattern + ": the program was built without variables to watch; give --watch to rmlc build",
        exit_usage);
  std::vector<std::string> known;
  bool found = false;
  for (std::uint32_t i = program.n_outputs - program.n_watched; i < program.n_outputs; ++i) {
    known.emplace_back(program.outputs[i].name);
    if (!matches(pattern, known.back())) continue;
    found = true;
    if (std::find(to.begin(), to.end(), i) == to.end()) to.push_back(i);
  }
  if (!found)
    throw Failure("--watch " + pattern + ": no watched variable matches" + did_you_mean(pattern, known), exit_usage);
}

When when(const std::string& text) {
  if (text == "always") return When::always;
  return text == "never" ? When::never : When::automatic;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  return names;
}

bool has_suffix_of_rows(const std::string& name) {
  for (const std::string_view suffix :
       {".csv", ".csv.gz", ".jsonl", ".npz", ".npy", ".chron", ".tsv", ".json", ".parquet", ".arrow", ".feather"})
    if (name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0)
      return true;
  return false;
}

// Options of other tools, and what takes their place here.
struct ForeignOption {
  std::string_view name, instead;
};
constexpr ForeignOption foreign_options[] = {
    {"--save-params", "--save FILE writes the parameters, and the rest of the state"},
    {"--batch-size", "a batch is a tensor input, such as x: f32[32, 8]"},
    {"--lr", "the rate is an argument of the optimiser: diff[optim.adam(0.001)] f(…)"},
    {"--learning-rate", "the rate is an argument of the optimiser: diff[optim.adam(0.001)] f(…)"},
    {"--steps", "--cycles N stops after N cycles"},
    {"--out", "--output FILE"},
    {"--in", "--input FILE"},
};

std::string unknown_option(const std::string& argument, const std::vector<std::string>& known) {
  const std::string name = argument.substr(0, argument.find('='));
  for (const ForeignOption& option : foreign_options)
    if (name == option.name) return "unknown option '" + name + "'; " + std::string(option.instead);
  return "unknown option '" + name + "'" + did_you_mean(name, known);
}

// CLI11's own message lists all unexpected arguments; this one names the first and the most
// similar option.
Failure wrong_usage(const CLI::App& app, const CLI::ParseError& error) {
  const std::string see = "\nsee --help";
  if (!dynamic_cast<const CLI::ExtrasError*>(&error)) return Failure(error.what() + see, exit_usage);
  const std::string unexpected = app.remaining().empty() ? "" : app.remaining().front();
  if (unexpected.rfind("-", 0) != 0) {
    const bool rows = has_suffix_of_rows(unexpected);
    return Failure(
        "unexpected argument '" + unexpected + "'" + (rows ? "; rows are read by --input " + unexpected : "") + see,
        exit_usage);
  }
  return Failure(unknown_option(unexpected, names_of(app)) + see, exit_usage);
}

}  // namespace

CLI::Option* add_format_option(CLI::App& app, std::string& format, const char* text) {
  return app.add_option("--format", format, text)->check(CLI::IsMember({"csv", "jsonl", "chron", "npy"}));
}

void add_reading_options(CLI::App& app, Reading& reading, const std::string& group) {
  app.add_option_function<std::string>(
         "--delimiter", [&](const std::string& text) { reading.separator = text == "tab" ? '\t' : text[0]; },
         "character between the columns of CSV input, or tab (default: a comma)")
      ->check([](const std::string& text) { return complaint_of_delimiter(text); })
      ->type_name("C")
      ->group(group);
  app.add_option_function<std::string>(
         "--missing",
         [&](const std::string& text) {
           reading.missing = text == "absent" ? Missing::absent : text == "nan" ? Missing::nan : Missing::error;
         },
         "meaning of an empty cell or NA in CSV, of null or a missing key in JSON lines, and of `.` in a chronogram: "
         "an "
         "absent value, NaN, or an error unless the input's clock makes it absent (default)")
      ->check(CLI::IsMember({"absent", "nan", "error"}))
      ->group(group);
  app.add_option("--classes", reading.classes,
                 "texts of an integer input or output in CSV and JSON lines: line k of FILE is the text of class k")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE")
      ->group(group);
  app.add_option("--time", reading.times,
                 "format of times in CSV and JSON lines for an f64 input: t=%Y-%m-%dT%H:%M:%S, or t=unix")
      ->allow_extra_args(false)
      ->type_name("NAME=FORMAT")
      ->group(group);
}

namespace {

constexpr const char* group_of_rows = "Rows";
constexpr const char* group_of_length = "Length of the run";
constexpr const char* group_of_training = "Training in epochs";
constexpr const char* group_of_state = "State and parameters";
constexpr const char* group_of_view = "Watching the run";
constexpr const char* group_of_keys = "An instance for each key";
constexpr const char* group_of_speed = "Threads and ranks";
constexpr const char* group_of_reading = "Reading of CSV and JSON lines";
constexpr const char* group_of_rest = "Other options";

// The command line as it is read, before it is checked against the program.
struct Reader {
  CLI::App app;
  Options options;
  std::string progress = "auto", on_nan, plot;
  std::vector<std::string> monitor, watch;
  std::optional<std::string> key_seed;
  CLI::Option* key = nullptr;
  CLI::Option* append = nullptr;
  bool help = false, version = false;

  // Without a program: all options that any program has.
  Reader(const std::string& description, const std::string& command, const rml_program* program)
      : app(description, command) {
    app.set_help_flag();
    app.get_formatter()->column_width(36);
    add_rows();
    add_length();
    add_training_options(app, options.training, group_of_training);
    add_state();
    add_view();
    add_keys();
    add_speed(program);
    add_reading_options(app, options.reading, group_of_reading);
    add_bad_rows();
    add_rest();
  }

 private:
  CLI::Option* file(const char* name, std::string& to, const char* text, const char* group) {
    return app.add_option(name, to, text)->check(complaint_of_name)->type_name("FILE")->group(group);
  }
  // An option that may be given several times.
  CLI::Option* list(const char* name, std::vector<std::string>& to, const char* text, const char* type,
                    const char* group) {
    return app.add_option(name, to, text)->allow_extra_args(false)->type_name(type)->group(group);
  }
  template <class Number>
  CLI::Option* count(const char* name, Number& to, const char* text, const char* group) {
    return app.add_option(name, to, text)->check(complaint_of_count)->type_name("N")->group(group);
  }

  void add_rows() {
    list("--input", options.inputs,
         "the rows of all inputs, or of the input NAME: a file, - (stdin), or an address (tcp:// unix:// mqtt://)",
         "[NAME=]FILE", group_of_rows);
    list("--output", options.outputs, "where the rows of all outputs go, or those of the output NAME; - is stdout",
         "[NAME=]FILE", group_of_rows);
    add_format_option(app, options.format, "format of stdin and stdout (a file's suffix gives its format)")
        ->group(group_of_rows);
    append = app.add_flag("--append", options.append, "write after the rows that the output files have")
                 ->group(group_of_rows);
    list("--keep", options.kept, "column of the input that is copied to the output: texts, dates, identifiers",
         "COLUMN", group_of_rows);
  }

  void add_length() {
    count("--cycles", options.cycles, "stop after N cycles", group_of_length);
    app.add_option("--seed", options.seed, "seed of random functions (default 0)")
        ->check(complaint_of_seed)
        ->type_name("S")
        ->group(group_of_length);
  }

  void read_save_every(const std::string& text) {
    if (const auto time = duration_of(text))
      options.save_period = *time;
    else
      options.save_every = std::stoll(text);
  }

  void add_state() {
    CLI::Option* save = file("--save", options.save, "save the state when the run ends", group_of_state);
    app.add_option_function<std::string>(
           "--save-every", [this](const std::string& text) { read_save_every(text); },
           "save the state also after every N cycles, or after a time such as 30s in which rows came")
        ->check(complaint_of_save_every)
        ->type_name("N|TIME")
        ->group(group_of_state);
    CLI::Option* load =
        file("--load", options.load, "start from a saved state, at the cycle after its last one", group_of_state);
    file("--resume", options.resume, "continue the run that saved its state to FILE, if there is one, and save to it",
         group_of_state)
        ->excludes(load)
        ->excludes(save);
    app.add_flag("--overwrite", options.overwrite,
                 "with --load: replace output files that hold rows and that the state does not name")
        ->needs(load)
        ->excludes(append)
        ->group(group_of_state);
    CLI::Option* load_params = file("--load-params", options.load_params,
                                    "start with the parameters of this file (safetensors)", group_of_state)
                                   ->excludes(load);
    list("--map", options.map, "a new name for a variable, a parameter, an instance or a pattern of the loaded file",
         "OLD=NEW", group_of_state);
    app.add_flag("--partial", options.partial,
                 "with --load-params: load the parameters that the file has, and list them on stderr")
        ->needs(load_params)
        ->group(group_of_state);
    app.add_flag("--cast-params", options.cast_params,
                 "with --load-params: round floats of the file to the narrower types of the program")
        ->needs(load_params)
        ->group(group_of_state);
  }

  void add_view() {
    app.add_option("--progress", progress, "progress on stderr")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->group(group_of_view);
    list("--monitor", monitor, "scalar output to show with the progress, in --log and in --plot", "NAME",
         group_of_view);
    list("--watch", watch, "print the variables whose path matches on stderr, at each cycle", "PATTERN", group_of_view);
    file("--watch-file", options.watch_file, "print the watched variables to this file instead", group_of_view);
    file("--log", options.log, "write the scalar outputs to a TensorBoard event file in this folder", group_of_view)
        ->type_name("DIR");
    file("--plot", plot,
         "draw the scalar outputs over the run: .svg, .png or .pdf; FILE?scale=log, linear; ?size=WxH; ?title=TEXT",
         group_of_view);
    list("--plot-also", options.plot_also, "in the picture also the rows of an earlier run", "FILE", group_of_view);
    app.add_option("--on-nan", on_nan,
                   "check for values that are not finite: stop at the first, or report it and continue")
        ->check(CLI::IsMember({"stop", "continue"}))
        ->group(group_of_view);
    app.add_flag("--stats", options.stats, "print time, memory and segment lengths on stderr")->group(group_of_view);
    app.add_option_function<std::string>(
           "--stats-every", [this](const std::string& text) { options.stats_every = *duration_of(text); },
           "print rows, rows/s, lag, keys and bad rows on stderr after every TIME, such as 10s")
        ->check(complaint_of_duration)
        ->type_name("TIME")
        ->group(group_of_view);
    app.add_option("--metrics", options.metrics,
                   "serve the same figures as OpenMetrics text at http://ADDRESS/metrics, on this machine: "
                   "[HOST]:PORT or unix-listen://PATH")
        ->check(complaint_of_name)
        ->type_name("ADDRESS")
        ->group(group_of_view);
    app.add_flag("--quiet", options.quiet, "print no progress and no notes")->group(group_of_view);
    file("--profile", options.profile, "write a profile of the run, a trace for ui.perfetto.dev", group_of_view);
  }

  void add_keys() {
    key = app.add_option("--key", options.key,
                         "run one instance for each value of this input column; each output row begins with the "
                         "value. TYPE: text (default), bool or an integer type")
              ->type_name("NAME[:TYPE]")
              ->group(group_of_keys);
    list("--share", options.shared, "parameters that all keys have in common, by path", "PATTERN", group_of_keys)
        ->needs(key);
    app.add_option("--key-seed", key_seed,
                   "without --key: draw the random numbers that this key gets in a run with --key and the same --seed")
        ->excludes(key)
        ->type_name("KEY")
        ->group(group_of_keys);
  }

  void add_speed(const rml_program* program) {
    app.add_option("--threads", options.threads,
                   "at most N threads (default: as many as the program was built for); with 1, reading and writing use "
                   "no thread of their own")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group(group_of_speed);
    if (program == nullptr || program->network != nullptr) add_network();
    add_ranks(program);
  }

  void add_network() {
    app.add_option("--workers", options.workers,
                   "with --parallel: threads that run the tasks (default: one for each processor)")
        ->check(CLI::Range(1u, RML_MOST_THREADS))
        ->type_name("N")
        ->group(group_of_speed);
    app.add_option("--capacity", options.capacity,
                   "with --parallel: elements that may wait between two tasks (default: by their size)")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30))
        ->type_name("N")
        ->group(group_of_speed);
  }

  // Programs without dealt rows do not have these options, because creating options takes time at each start.
  void add_ranks(const rml_program* program) {
    const bool for_mpi = &rml_mpi_library != nullptr;
    const bool dealt = program == nullptr || program->per_step > 0;
    if (dealt && !for_mpi)
      app.add_option("--ranks", options.ranks,
                     "with dealt rows: N ranks, threads of this process, share the rows (default 1)")
          ->check(CLI::Range(1u, most_ranks))
          ->type_name("N")
          ->group(group_of_speed);
    if (dealt || for_mpi)
      app.add_option("--rank-patience", options.rank_patience,
                     "seconds that a rank waits for another (default 600; 0: without end)")
          ->check(complaint_of_count)
          ->type_name("S")
          ->group(group_of_speed);
  }

  void add_bad_rows() {
    app.add_option_function<std::string>(
           "--on-bad-row", [this](const std::string& text) { options.reading.skip_bad_rows = text == "skip"; },
           "stop at a row that is not valid (default), or skip it and count it")
        ->check(CLI::IsMember({"stop", "skip"}))
        ->group(group_of_reading);
    file("--bad-rows", options.bad_rows,
         "with --on-bad-row skip: write the rows that are not valid to FILE, as they came", group_of_reading);
  }

  void add_rest() {
    count("--horizon", options.horizon, "longest segment allowed, in cycles (default: bounded by memory)",
          group_of_rest);
    app.add_flag("--version", version, "print the version")->group(group_of_rest);
    app.add_flag("--help,-h", help, "print this text")->group(group_of_rest);
  }
};

}  // namespace

std::vector<std::string> option_names(const std::vector<std::string>& except) {
  const Reader reader("", "", nullptr);
  std::vector<std::string> names;
  for (const CLI::Option* option : reader.app.get_options())
    if (std::find(except.begin(), except.end(), option->get_name()) == except.end())
      names.push_back(option->get_name());
  return names;
}

std::string wrapped_help(const std::string& help) {
  constexpr std::size_t width = 100;
  std::string text;
  std::istringstream lines(help);
  int blank = 0;
  for (std::string line; std::getline(lines, line);) {
    blank = line.empty() ? blank + 1 : 0;
    if (blank > 1) continue;
    // The description begins behind the last run of two blanks; continued lines begin below it.
    const std::size_t gap = line.size() > width ? line.substr(0, width).rfind("  ") : std::string::npos;
    const std::size_t column = gap == std::string::npos ? 0 : gap + 2;
    while (line.size() > width && column < width / 2) {
      const std::size_t cut = line.rfind(' ', width);
      if (cut == std::string::npos || cut <= column) break;
      text += line.substr(0, cut) + "\n";
      line = std::string(column, ' ') + line.substr(cut + 1);
    }
    text += line + "\n";
  }
  return text;
}

std::string complaint_of_options(const std::vector<std::string>& arguments) {
  const std::vector<std::string> known = option_names({});
  for (const std::string& argument : arguments) {
    if (argument.rfind("--", 0) != 0 || argument.size() < 3) continue;
    if (std::find(known.begin(), known.end(), argument.substr(0, argument.find('='))) == known.end())
      return unknown_option(argument, known);
  }
  return "";
}

std::string options_help(const std::vector<std::string>& except) {
  Reader reader("", "", nullptr);
  for (CLI::Option* option : reader.app.get_options())
    if (std::find(except.begin(), except.end(), option->get_name()) != except.end()) option->group("");
  CLI::Formatter formatter;
  formatter.column_width(36);
  return formatter.make_groups(&reader.app, CLI::AppFormatMode::Normal);
}

// Throws Failure with status 2 for options that need others, or that do not fit the program.
static void check_options(const Options& options, const rml_program& program) {
  if (options.threads > std::max(program.threads, 1u))
    throw Failure("--threads " + std::to_string(options.threads) + ": the program was built for " +
                      (program.threads > 1 ? std::to_string(program.threads) + " threads" : "one thread") +
                      "; give --threads to rmlc build",
                  exit_usage);
  check_training_options(options.training);
  if (!options.bad_rows.empty() && !options.reading.skip_bad_rows)
    throw Failure("--bad-rows: add --on-bad-row skip; otherwise the run stops at the first bad row, and quotes it",
                  exit_usage);
  if ((options.save_every > 0 || options.save_period.count() > 0) && options.save.empty() && options.resume.empty())
    throw Failure("--save-every: give the file to save to, --save FILE or --resume FILE", exit_usage);
  if (options.save_period.count() > 0 && program.per_step > 0)
    throw Failure("--save-every: ranks save after the same step; give a number of cycles, not a time", exit_usage);
  if (!options.map.empty() && options.load.empty() && options.resume.empty() && options.load_params.empty())
    throw Failure("--map: give the file that it renames, with --load, --resume or --load-params FILE", exit_usage);
}

Options parse_options(const rml_program& program, int argc, const char* const* argv) {
  const std::string command = argc > 0 ? base_name(argv[0]) : program.name;
  Reader reader(description(program), command, &program);
  Options& options = reader.options;
  options.arguments.assign(argv + std::min(argc, 1), argv + argc);
  reader.app.footer(examples(program, command));
  try {
    reader.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    throw wrong_usage(reader.app, error);
  }
  if (reader.help) options.print_only = wrapped_help(reader.app.help());
  if (reader.version) options.print_only = version_text(program);
  if (reader.key->count() > 0 && options.key.empty()) throw Failure("--key: expected NAME or NAME:TYPE", exit_usage);
  if (reader.key_seed) options.seed = hash_of_key(*reader.key_seed, options.seed.value_or(0));
  check_options(options, program);
  options.plot = parse_plot_address(reader.plot);
  if (!options.plot_also.empty() && options.plot.path.empty())
    throw Failure("--plot-also: give the file of the picture, --plot FILE", exit_usage);
  if (!options.watch_file.empty() && reader.watch.empty())
    throw Failure("--watch-file: name the variables with --watch PATTERN", exit_usage);
  options.own_outputs = program.n_outputs - program.n_watched;
  for (const std::string& pattern : reader.watch) add_watched(program, pattern, options.watched);
  options.progress = when(reader.progress);
  options.on_nan = reader.on_nan.empty() ? OnNan::ignore : reader.on_nan == "stop" ? OnNan::stop : OnNan::tell;
  for (const std::string& name : reader.monitor) options.monitored.push_back(monitored_output(program, name));
  return std::move(reader.options);
}

}  // namespace rml::rt
