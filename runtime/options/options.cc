// CLI11 splits and converts arguments; the messages about wrong names are written here.
#include "runtime/options/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstring>

#include "runtime/base/failure.h"
#include "runtime/base/key_table.h"
#include "runtime/base/parallel.h"
#include "runtime/base/pattern.h"
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

std::string complaint_of_delimiter(const std::string& text) {
  if (text == "tab" || text == "\t") return "";
  const bool fits = text.size() == 1 && std::ispunct(static_cast<unsigned char>(text[0])) != 0;
  if (fits && std::string_view("\"'.-+[]").find(text[0]) == std::string_view::npos) return "";
  return "'" + text + "' is no delimiter: a character such as ; or |, or tab";
}

// CLI11 replaces an integer that is too large by the largest one, so the text is checked.
std::string at_most(const std::string& text, std::uint64_t most) {
  char* end = nullptr;
  errno = 0;
  const std::uint64_t number = std::strtoull(text.c_str(), &end, 0);
  const bool whole = !text.empty() && end == text.c_str() + text.size();
  return whole && (errno == ERANGE || number > most) ? "'" + text + "': must be at most " + std::to_string(most) : "";
}

}  // namespace

// CLI11's own message contains the largest double.
std::string complaint_of_count(const std::string& text) {
  if (!CLI::NonNegativeNumber(text).empty()) return "'" + text + "': must be 0 or more";
  return at_most(text, std::numeric_limits<std::int64_t>::max());
}

std::string complaint_of_seed(const std::string& text) {
  if (!CLI::NonNegativeNumber(text).empty()) return "'" + text + "': must be 0 or more";
  return at_most(text, std::numeric_limits<std::uint64_t>::max());
}

namespace {

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Programs without ranks do not get these options, to save start-up time.
void add_rank_options(CLI::App& app, const rml_program& program, Options& options) {
  const bool for_mpi = &rml_mpi_library != nullptr;
  if (program.per_step > 0 && !for_mpi)
    app.add_option("--ranks", options.ranks, "run as N ranks that share the rows, threads of this process (default 1)")
        ->check(CLI::Range(1u, most_ranks))
        ->type_name("N");
  if (program.per_step > 0 || for_mpi)
    app.add_option("--patience", options.patience, "seconds that a rank waits for another (default 600; 0: for ever)")
        ->check(complaint_of_count)
        ->type_name("S");
}

// CLI11's own message lists all unexpected arguments; this one names the first and the most
// similar option.
Failure wrong_usage(const CLI::App& app, const CLI::ParseError& error) {
  const std::string see = "\nsee --help";
  if (!dynamic_cast<const CLI::ExtrasError*>(&error)) return Failure(error.what() + see, exit_usage);
  const std::string unexpected = app.remaining().empty() ? "" : app.remaining().front();
  if (unexpected.rfind("-", 0) != 0) return Failure("unexpected argument '" + unexpected + "'" + see, exit_usage);
  const std::string name = unexpected.substr(0, unexpected.find('='));
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) known.push_back(option->get_name());
  return Failure("unknown option '" + name + "'" + did_you_mean(name, known) + see, exit_usage);
}

}  // namespace

void add_format_option(CLI::App& app, std::string& format, const char* text) {
  app.add_option("--format", format, text)->check(CLI::IsMember({"csv", "jsonl", "chron", "npy"}));
}

void add_reading_options(CLI::App& app, Reading& reading) {
  app.add_option_function<std::string>(
         "--delimiter", [&](const std::string& text) { reading.separator = text == "tab" ? '\t' : text[0]; },
         "between the columns of CSV that is read: a character, or tab (default: a comma)")
      ->check([](const std::string& text) { return complaint_of_delimiter(text); })
      ->type_name("C");
  app.add_option_function<std::string>(
         "--missing",
         [&](const std::string& text) {
           reading.missing = text == "absent" ? Missing::absent : text == "nan" ? Missing::nan : Missing::error;
         },
         "what cells of CSV that are empty or NA, null or no key in JSON lines, and `.` in chronograms stand for: "
         "absent "
         "values, NaN, or errors unless absent by a clock (default)")
      ->check(CLI::IsMember({"absent", "nan", "error"}));
  app.add_option("--classes", reading.classes,
                 "cells of CSV are texts for this integer input, or output: line k is class k")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE");
  app.add_option("--time", reading.times, "cells of CSV are times for this f64 input: t=%Y-%m-%dT%H:%M:%S, or t=unix")
      ->allow_extra_args(false)
      ->type_name("NAME=FORMAT");
}

std::string complaint_of_name(const std::string& name) { return name.empty() ? "an empty name" : ""; }

Options parse_options(const rml_program& program, int argc, const char* const* argv) {
  Options options;
  options.arguments.assign(argv + std::min(argc, 1), argv + argc);
  std::string progress = "auto", on_nan;
  std::vector<std::string> monitor, watch;
  std::optional<std::string> key_seed;
  bool help = false;
  bool version = false;
  const std::string command = argc > 0 ? base_name(argv[0]) : program.name;
  CLI::App app(description(program), command);
  app.set_help_flag();
  const auto files = [&](const char* name, std::vector<std::string>& to, const char* text) {
    return app.add_option(name, to, text)->allow_extra_args(false)->type_name("[NAME=]FILE");
  };
  files("--input", options.inputs,
        "rows for all inputs, or the stream of one: a file, - (stdin), or a peer (tcp:// unix:// mqtt://)");
  files("--output", options.outputs, "the same for outputs; - is stdout");
  add_format_option(app, options.format, "of stdin and stdout; files go by suffix");
  add_reading_options(app, options.reading);
  app.add_option("--keep", options.kept, "a column of the CSV input that goes to the CSV output as it is, with its row")
      ->allow_extra_args(false)
      ->type_name("COLUMN");
  app.add_option("--cycles", options.cycles, "stop after N cycles")->check(complaint_of_count)->type_name("N");
  app.add_option("--seed", options.seed, "for random functions (default 0)")->check(complaint_of_seed)->type_name("S");
  CLI::Option* key = app.add_option("--key", options.key,
                                    "an instance for each value of this column of the input, which leads each output "
                                    "row; TYPE: text (default), bool or an integer's")
                         ->type_name("NAME[:TYPE]");
  app.add_option("--share", options.shared, "… parameters whose path matches are those of all keys")
      ->allow_extra_args(false)
      ->needs(key)
      ->type_name("PATTERN");
  app.add_option("--key-seed", key_seed, "with the random numbers that this key has in a run with --key and --seed S")
      ->excludes(key)
      ->type_name("KEY");
  app.add_option("--horizon", options.horizon, "longest segment allowed, in cycles (default: bounded by memory)")
      ->check(complaint_of_count)
      ->type_name("N");
  const auto file = [&](const char* name, std::string& to, const char* text) {
    return app.add_option(name, to, text)->check(complaint_of_name)->type_name("FILE");
  };
  file("--save", options.save, "save the state when the run ends");
  app.add_option("--save-every", options.save_every, "… and after every N cycles")
      ->check(CLI::PositiveNumber)
      ->check(complaint_of_count)
      ->type_name("N");
  CLI::Option* load = file("--load", options.load, "begin with a saved state; the streams go on from its cycle");
  file("--resume", options.resume, "go on with the run that saved to FILE, if any, and save to it")
      ->excludes(load)
      ->excludes("--save");
  CLI::Option* load_params =
      file("--load-params", options.load_params, "begin with these parameters (safetensors)")->excludes(load);
  app.add_option("--map", options.map,
                 "what the loaded file calls OLD is NEW here: a variable, parameter, instance or pattern")
      ->allow_extra_args(false)
      ->type_name("OLD=NEW");
  app.add_flag("--partial", options.partial, "load the parameters that the file has, and tell which those are")
      ->needs(load_params);
  app.add_option("--progress", progress, "progress on stderr")->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_option("--monitor", monitor, "show this scalar output: with the progress, in --log and --plot")
      ->allow_extra_args(false)
      ->type_name("NAME");
  app.add_option("--watch", watch, "print the variables whose path matches, cycle by cycle, on stderr")
      ->allow_extra_args(false)
      ->type_name("PATTERN");
  file("--watch-file", options.watch_file, "… or to this file");
  file("--log", options.log, "scalar outputs as a TensorBoard event file in this folder")->type_name("DIR");
  file("--plot", options.plot, "a picture of scalar outputs over the run (SVG)");
  app.add_option("--on-nan", on_nan, "look for floats that are not finite: stop there, or say so and continue")
      ->check(CLI::IsMember({"stop", "continue"}));
  app.add_option("--threads", options.threads,
                 "at most so many (default: as many as the program was built for); 1: also for reading and writing")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  add_rank_options(app, program, options);
  if (program.network != nullptr) {
    app.add_option("--workers", options.workers, "threads that run the tasks (default: as many as processors)")
        ->check(CLI::Range(1u, RML_MOST_THREADS))
        ->type_name("N");
    app.add_option("--capacity", options.capacity,
                   "elements that may wait between two tasks before the first one does (default: by their size)")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30))
        ->type_name("N");
  }
  app.add_flag("--stats", options.stats, "time, memory and segment figures on stderr");
  file("--profile", options.profile, "where the time goes, as a trace for ui.perfetto.dev");
  app.add_flag("--quiet", options.quiet, "no progress and no notes");
  app.add_flag("--version", version, "print the version");
  app.add_flag("--help,-h", help, "print this text");
  app.get_formatter()->column_width(36);
  app.footer(examples(program, command));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    throw wrong_usage(app, error);
  }
  if (help) options.print_only = app.help();
  if (version) options.print_only = version_text(program);
  if (key->count() > 0 && options.key.empty()) throw Failure("--key: expected NAME or NAME:TYPE", exit_usage);
  if (key_seed) options.seed = hash_of_key(*key_seed, options.seed.value_or(0));
  if (options.threads > std::max(program.threads, 1u))
    throw Failure("--threads " + std::to_string(options.threads) + ": the program was built for " +
                      (program.threads > 1 ? std::to_string(program.threads) + " threads" : "one thread") +
                      "; give --threads to rmlc build",
                  exit_usage);
  if (options.save_every > 0 && options.save.empty() && options.resume.empty())
    throw Failure("--save-every: give the file to save to, --save FILE or --resume FILE", exit_usage);
  if (!options.map.empty() && options.load.empty() && options.resume.empty() && options.load_params.empty())
    throw Failure("--map: give the file whose names it is about, --load, --resume or --load-params FILE", exit_usage);
  if (!options.watch_file.empty() && watch.empty())
    throw Failure("--watch-file: say what to watch with --watch PATTERN", exit_usage);
  options.own_outputs = program.n_outputs - program.n_watched;
  for (const std::string& pattern : watch) add_watched(program, pattern, options.watched);
  options.progress = when(progress);
  options.on_nan = on_nan.empty() ? OnNan::ignore : on_nan == "stop" ? OnNan::stop : OnNan::tell;
  for (const std::string& name : monitor) options.monitored.push_back(monitored_output(program, name));
  return options;
}

}  // namespace rml::rt
