// rmlc's command line. CLI11 is used only here, in driver/command_options.cc and in driver/usage_error.cc.
//
// Every command fills its request and sets the function to run; main runs that function. Usage errors exit 2, help and
// version 0; other exit statuses are in docs/manual/commands.md.
#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>
#include <vector>

#include "driver/base/crash_report.h"
#include "driver/command_line.h"
#include "driver/commands/commands.h"
#include "driver/shell_completion.h"
#include "driver/terminal.h"
#include "driver/usage_error.h"
#include "frontend/explain.h"
#include "lowering/llvm/toolchain/versions.h"
#include "runtime/base/parallel.h"
#include "runtime/base/readable.h"
#include "runtime/base/rmlrt.h"
#include "runtime/checkpoint/format_version.h"
#include "runtime/options/complaints.h"
#include "runtime/options/options.h"

namespace {

using rml::add_libraries;
using rml::CommandLine;
using rml::find_linked;
using rml::Invocation;
using rml::list_option;
using rml::made_file;
using rml::name_option;
using rml::printed_file;

CLI::Option* add_file(CLI::App* app, std::string& file) {
  return app->add_option("FILE", file, "source file, M.onnx, or - for standard input")->required()->type_name("");
}

template <class Request>
void serve(CLI::App* sub, CommandLine& line, Request& request, int (*command)(Invocation&, const Request&)) {
  sub->callback([&line, &request, command] {
    line.command = [&request, command](Invocation& s) { return command(s, request); };
  });
}

void build_options(CLI::App* sub, CommandLine& line) {
  add_file(sub, line.build.file);
  made_file(sub, line.build.output, "output file (default: named after the source)")->type_name("OUT");
  sub->add_option("--emit", line.build.emit, "exe, obj, asm, llvm, bc, lib, header or c (default exe)")
      ->check(CLI::IsMember({"exe", "obj", "asm", "llvm", "bc", "lib", "header", "c"}));
  name_option(sub, "--target", line.invocation.session.options.target.triple, "target (default: this machine)")
      ->type_name("TRIPLE");
  add_front_options(sub, line);
  add_back_options(sub, line);
  add_libraries(sub, line.build.libraries);
  list_option(sub, "--external", line.build.linked_later,
              "external node whose function you will link yourself; may be repeated")
      ->type_name("NAME");
  sub->add_flag("--mqtt", line.build.mqtt, "let the program read and write MQTT topics (it then needs libmosquitto)");
  sub->add_flag("--mpi{any}", line.build.mpi,
                "make a program for mpirun: with the installed MPI, or --mpi=openmpi, --mpi=mpich")
      ->check(CLI::IsMember({"any", "openmpi", "mpich"}));
  sub->add_flag("--ranks", line.build.ranks, "give the program the option --ranks N: N threads share its dealt rows");
  sub->add_flag(
      "--lanes", line.build.lanes,
      "compute several states together in vector lanes: with --key in a program, in NODE_group_step of --emit lib");
  add_parameters(sub, line);
  add_changing(sub, line);
  add_watch(sub, line, "variables that the program can watch, by path: lstm.*; may be repeated");
  serve(sub, line, line.build, rml::build);
}

void run_options(CLI::App* sub, CommandLine& line) {
  add_file(sub, line.run.file);
  add_front_options(sub, line);
  add_back_options(sub, line);
  sub->add_option("--engine", line.engine, "compiled (default), reference, or channels: as with --parallel")
      ->check(CLI::IsMember({"compiled", "reference", "channels"}));
  sub->add_flag("--unsimplified", line.run.unsimplified,
                "with --engine reference: evaluate the equations as they are before the compiler simplifies them");
  sub->add_option("--horizon", line.run.horizon, "longest segment allowed, in cycles")
      ->check(rml::rt::complaint_of_count)
      ->type_name("N");
  add_libraries(sub, line.run.libraries);
  add_changing(sub, line);
  add_watch(sub, line, "print the variables whose path matches at each cycle: lstm.*; may be repeated");
  sub->allow_extras();
  sub->callback([&line, sub] {
    line.run.program_arguments = sub->remaining();
    line.run.program_arguments.insert(line.run.program_arguments.end(), line.behind.begin(), line.behind.end());
    line.run.engine = line.engine == "reference" ? rml::Engine::reference : rml::Engine::compiled;
    rml::Grain& grain = line.invocation.session.options.grain;
    if (line.engine == "channels" && grain == rml::Grain::none) grain = rml::Grain::stage;
    line.command = [&line](Invocation& s) { return rml::run(s, line.run); };
  });
}

void eval_options(CLI::App* sub, CommandLine& line) {
  add_file(sub, line.eval.file);
  sub->add_flag("--progressive", line.eval.progressive, "for each row: score the prediction, then learn from the row")
      ->required();
  sub->add_option_function<std::vector<std::string>>(
         "--metric",
         [&line](const std::vector<std::string>& list) {
           for (const std::string& text : list) {
             std::string error;
             const auto metric = rml::read_metric(text, error);
             if (!metric) throw CLI::ValidationError("--metric", error);
             line.eval.metrics.push_back(*metric);
           }
         },
         rml::metric_names() + ": compares an output with the truth in the same row; may be repeated")
      ->allow_extra_args(false)
      ->required()
      ->type_name("[COLUMN=]NAME:PREDICTION:TRUTH");
  sub->add_option("--window", line.eval.over.window, "measure the last N rows (default: all)")
      ->check(CLI::Range(2, 1 << 20))
      ->type_name("N");
  sub->add_option("--warm-up", line.eval.over.warm_up, "do not measure the first N rows, only learn from them")
      ->check(rml::rt::complaint_of_count)
      ->type_name("N");
  add_front_options(sub, line);
  add_native_options(sub, line);
  sub->add_option("--engine", line.engine, "compiled (default) or reference")
      ->check(CLI::IsMember({"compiled", "reference"}));
  add_libraries(sub, line.eval.libraries);
  add_changing(sub, line);
  sub->allow_extras();
  sub->callback([&line, sub] {
    line.eval.program_arguments = sub->remaining();
    line.eval.engine = line.engine == "reference" ? rml::Engine::reference : rml::Engine::compiled;
    line.command = [&line](Invocation& s) { return rml::evaluate(s, line.eval); };
  });
}

void import_options(CLI::App* sub, CommandLine& line) {
  sub->add_option("MODEL", line.import.file, "the model, M.onnx")->required()->type_name("");
  made_file(sub, line.import.output, "output file, F.rml (default: named after the model)")->type_name("F.rml");
  add_model_options(sub, line);
  add_output_options(sub, line);
  add_limits(sub, line);
  serve(sub, line, line.import, rml::import_file);
}

void compare_options(CLI::App* sub, CommandLine& line) {
  sub->add_option("MODEL", line.compare.file, "the model, M.onnx")->required()->type_name("");
  sub->add_option("--input", line.compare.input, "folder with input_0.pb, input_1.pb, … (default: random)")
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  name_option(sub, "--onnxruntime", line.compare.library,
              "library of ONNX Runtime (default: where the system finds it)")
      ->envname("ONNXRUNTIME")
      ->type_name("FILE");
  sub->add_option("--seed", line.compare.seed, "seed of random inputs (default 0)")
      ->check(rml::rt::complaint_of_seed)
      ->type_name("S");
  sub->add_option("--rtol", line.compare.relative_tolerance, "relative tolerance (default 1e-3)");
  sub->add_option("--atol", line.compare.absolute_tolerance, "absolute tolerance (default 1e-5)");
  add_model_options(sub, line);
  add_output_options(sub, line);
  serve(sub, line, line.compare, rml::compare_model);
}

void export_options(CLI::App* sub, CommandLine& line) {
  add_file(sub, line.export_.file);
  made_file(sub, line.export_.output, "output file (default: named after the node)")->type_name("M.onnx");
  add_parameters(sub, line);
  add_front_options(sub, line);
  serve(sub, line, line.export_, rml::export_node);
}

void check_options(CLI::App* sub, CommandLine& line) {
  sub->add_option("FILE", line.check.files, "source files")->required()->type_name("");
  sub->add_flag("--signatures", line.check.signatures, "print types and clocks of every node");
  add_front_options(sub, line);
  serve(sub, line, line.check, rml::check_files);
}

void show_options(CLI::App* sub, CommandLine& line) {
  std::vector<std::string> phases(std::begin(rml::shown_phases), std::end(rml::shown_phases));
  auto* after = name_option(sub, "--after", line.show.after,
                            "show the whole program after this pass instead; rmlc opt --list names the passes");
  after->type_name("PASS");
  const auto phase = [&line, known = CLI::IsMember(phases)](const std::string& name) {
    return line.show.after.empty() ? known(name) : std::string();
  };
  std::string list;
  for (const std::string& name : phases) list += (list.empty() ? "" : &name == &phases.back() ? " or " : ", ") + name;
  sub->add_option("PHASE", line.show.phase, list)->required()->check(phase)->type_name("");
  CLI::Option* const file = add_file(sub, line.show.file);
  after->each([file](const std::string&) { file->required(false); });
  printed_file(sub, line.show.output, "output file (default: standard output); .dot or .svg for graph and tasks")
      ->type_name("OUT");
  sub->add_option("--depth", line.show.depth,
                  "for graph and tasks: the nesting depth of instances to expand (default: as deep as fits a page in "
                  ".svg, all in .dot)")
      ->type_name("N")
      ->check(rml::rt::complaint_of_count);
  sub->add_option("--ranks", line.show.ranks, "for ranks: the number of ranks (default 2)")
      ->type_name("N")
      ->check(CLI::Range(1u, 65535u));
  name_option(sub, "--target", line.invocation.session.options.target.triple, "target (default: this machine)")
      ->type_name("TRIPLE");
  add_front_options(sub, line);
  add_back_options(sub, line);
  add_changing(sub, line);
  serve(sub, line, line.show, rml::show);
}

void opt_options(CLI::App* sub, CommandLine& line) {
  sub->add_option("PASS", line.opt.passes, "passes to run, in this order, over the program on standard input")
      ->type_name("");
  sub->add_flag("--list", line.opt.list, "print the list of passes");
  sub->add_flag("--keep-watches", line.opt.keep_watches, "keep variables that only `watches` need");
  add_watch(sub, line, "variables for the pass watch_values");
  add_output_options(sub, line);
  add_back_options(sub, line);
  serve(sub, line, line.opt, rml::run_passes);
}

void diff_options(CLI::App* sub, CommandLine& line) {
  add_file(sub, line.diff.file);
  printed_file(sub, line.diff.output, "output file (default: standard output)")->type_name("OUT");
  add_front_options(sub, line);
  serve(sub, line, line.diff, rml::show_derivative);
}

void gradcheck_options(CLI::App* sub, CommandLine& line) {
  add_file(sub, line.gradient.file);
  list_option(sub, "--input", line.gradient.inputs, "rows of all inputs, or of the input NAME (default: random)")
      ->type_name("FILE");
  sub->add_option("--cycles", line.gradient.cycles, "number of cycles (default: 12, or all rows of the input)")
      ->check(CLI::PositiveNumber)
      ->check(rml::rt::complaint_of_count)
      ->type_name("N");
  sub->add_option("--seed", line.gradient.seed, "seed of random inputs and functions (default 0)")
      ->check(rml::rt::complaint_of_seed)
      ->type_name("S");
  sub->add_option("--tolerance", line.gradient.tolerance, "relative error allowed (default 1e-6)")
      ->check(CLI::PositiveNumber)
      ->type_name("T");
  sub->add_option_function<std::string>(
         "--engine",
         [&line](const std::string& engine) {
           line.gradient.engine = engine == "compiled" ? rml::Engine::compiled : rml::Engine::reference;
         },
         "compiled or reference (default)")
      ->check(CLI::IsMember({"compiled", "reference"}));
  add_front_options(sub, line);
  add_core_options(sub, line);
  add_libraries(sub, line.gradient.libraries);
  serve(sub, line, line.gradient, rml::check_gradient);
}

void trace_options(CLI::App* sub, CommandLine& line) {
  add_file(sub, line.trace.file);
  list_option(sub, "--input", line.trace.inputs,
              "rows of all inputs, or of the input NAME: NAME=FILE; - is standard input")
      ->type_name("FILE");
  list_option(sub, "--output", line.trace.outputs, "where the rows go, or those of one variable: NAME=FILE")
      ->type_name("FILE");
  rml::rt::add_format_option(*sub, line.trace.format,
                             "format of standard input and output (default: chron); a file's suffix gives its format");
  rml::rt::add_reading_options(*sub, line.trace.reading);
  list_option(sub, "--watch", line.trace.watches, "variables to show, by path: lstm.*; may be repeated")
      ->type_name("PATTERN");
  sub->add_option("--cycles", line.trace.cycles, "stop after N cycles")
      ->check(rml::rt::complaint_of_count)
      ->type_name("N");
  sub->add_option("--seed", line.trace.seed, "seed of random functions (default 0)")
      ->check(rml::rt::complaint_of_seed)
      ->type_name("S");
  sub->add_option_function<std::string>(
         "--html", [&line](const std::string&) { line.not_available = "trace --html"; }, "not available yet")
      ->group("");
  add_front_options(sub, line);
  add_core_options(sub, line);
  add_libraries(sub, line.trace.libraries);
  serve(sub, line, line.trace, rml::trace);
}

void test_options(CLI::App* sub, CommandLine& line) {
  sub->add_option("PATH", line.test.paths, "test files, or folders of them")
      ->required()
      ->check(CLI::ExistingPath)
      ->type_name("");
  sub->add_flag("--bless", line.test.bless, "write the computed rows to the files of expected rows");
  sub->add_flag("--brief", line.test.brief,
                "only the reference engine and -O2: no networks, and no state saved and loaded");
  sub->add_flag("--on-demand", line.test.on_demand,
                "compute every program on demand, without a static schedule, and compare with the reference engine");
  sub->add_option("--threads", line.test.threads, "compare also with programs of up to N threads, bit by bit")
      ->check(CLI::Range(1u, RML_MOST_THREADS))
      ->type_name("N");
  sub->add_option("--rtol", line.test.relative_tolerance, "for ONNX cases: relative tolerance (default 1e-3)");
  sub->add_option("--atol", line.test.absolute_tolerance, "for ONNX cases: absolute tolerance (default 1e-7)");
  list_option(sub, "--state", line.test.states,
              "for ONNX cases: the data sets are the cycles of one run, and this output is the next cycle's input")
      ->type_name("INPUT=OUTPUT");
  sub->add_option("--workers", line.test.workers, "number of tests that run at the same time (default: one per core)")
      ->type_name("N");
  add_output_options(sub, line);
  serve(sub, line, line.test, rml::test);
}

void fmt_options(CLI::App* sub, CommandLine& line) {
  sub->add_option("FILE", line.format.files, "source files, rewritten in place")->required()->type_name("");
  sub->add_flag("--check", line.format.check,
                "change nothing; list the files with another layout, exit status 1 if there are any");
  add_output_options(sub, line);
  serve(sub, line, line.format, rml::format_files);
}

// Signs of the language such as `->` look like options; they are topics too.
void explain_options(CLI::App* sub, CommandLine& line) {
  sub->add_option("TOPIC", line.explain.topic,
                  "a word or sign of the language, a code of a message, an operator, a module or node of the standard "
                  "library or of a file here, F.rml (default: a list of all)")
      ->type_name("");
  name_option(sub, "-k", line.explain.word, "list the topics that mention the word")->type_name("WORD");
  list_option(sub, "-I", line.explain_folders, "folder with modules of yours")->type_name("DIR");
  sub->allow_extras();
  sub->callback([&line, sub] {
    for (const std::string& more : sub->remaining()) {
      if (more == "--" && !line.explain.topic.empty()) continue;  // skips the dashes of `rmlc explain -- TOPIC`
      if (!line.explain.topic.empty() || rml::language_page(more) == nullptr) throw CLI::ExtrasError(sub->remaining());
      line.explain.topic = more;
    }
    auto& folders = line.invocation.session.options.import_folders;
    folders.assign(line.explain_folders.begin(), line.explain_folders.end());
    line.command = [&line](Invocation& s) { return rml::explain_topic(s, line.explain); };
  });
}

void doc_options(CLI::App* sub, CommandLine& line) {
  sub->add_option("PATH", line.doc.paths, "modules, or folders of modules")
      ->required()
      ->check(CLI::ExistingPath)
      ->type_name("");
  printed_file(sub, line.doc.output, "output file, Markdown (default: standard output)")->type_name("OUT");
  sub->add_option("--title", line.doc.title, "first heading (default: the name of the first path)")->type_name("TEXT");
  sub->add_flag("--require-examples", line.doc.require_examples, "a node without an example is an error");
  sub->add_option("--tolerance", line.doc.tolerance,
                  "relative error allowed between an example and its rows (default 1e-6)")
      ->check(CLI::PositiveNumber)
      ->type_name("T");
  add_front_options(sub, line);
  serve(sub, line, line.doc, rml::document);
}

void licenses_options(CLI::App* sub, CommandLine& line) {
  sub->callback([&line] { line.command = rml::print_licenses; });
}

void completion_options(CLI::App* sub, CommandLine& line) {
  sub->add_option("SHELL", line.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("");
}

// Whether options that the command does not know are those of the program that it runs.
bool passes_options_on(const CLI::App& sub) { return sub.get_name() == "run" || sub.get_name() == "eval"; }

// The commands and options for completions by shells, read from the parser's definitions.
std::vector<rml::CompletedCommand> completed_commands(const CLI::App& app) {
  std::vector<rml::CompletedCommand> commands;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); })) {
    rml::CompletedCommand command{sub->get_name(), sub->get_description(), {}};
    for (const CLI::Option* option : sub->get_options()) {
      if (!option->get_group().empty() && !option->get_positional()) command.options.push_back(option->get_name());
    }
    if (passes_options_on(*sub))
      for (std::string& name : rml::rt::option_names(command.options)) command.options.push_back(std::move(name));
    commands.push_back(command);
  }
  return commands;
}

bool wants_color(const std::string& choice) {
  if (choice != "auto") return choice == "always";
  return isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
}

// Makes all threads use one heap. Commands work on a thread of their own, for which the C library would create a second
// heap that grows page by page. Tests compile on several threads and keep theirs.
void use_one_heap() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TOP_PAD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

void settle_options(CommandLine& line, bool running) {
  Invocation& s = line.invocation;
  s.color = wants_color(line.color);
  if (line.error_format == "json") s.error_format = rml::ErrorFormat::json;
  if (line.error_format == "sarif") s.error_format = rml::ErrorFormat::sarif;
  s.session.options.target.cpu = !line.cpu.empty() ? line.cpu : running ? "native" : "generic";
}

// The first line is for scripts; the others are the versions that docs/manual/compatibility.md promises.
std::string versions() {
  return "rmlc " RML_VERSION "\nstate format " + std::string(rml::rt::state_format_version) +
         "\nstate format of keys " + rml::rt::columns_format_version + "\nC interface " +
         std::to_string(rml::c_interface_version) + "\nruntime ABI " + std::to_string(RML_ABI) + "\nLLVM " +
         rml::llvm_version();
}

struct Command {
  const char *name, *text, *examples;
  void (*options)(CLI::App*, CommandLine&);
};

constexpr Command commands[] = {
    {"build", "compile to a native program or library",
     "  rmlc build pid.rml                 ./pid, a program\n"
     "  rmlc build pid.rml -o loop -O3 --cpu native\n"
     "  rmlc build pid.rml --emit lib      main.o and main.h, for C\n"
     "  rmlc build pid.rml --emit c        main.c and main.h, C99 without the runtime\n"
     "  rmlc build pid.rml --emit obj --target aarch64-linux-gnu\n",
     build_options},
    {"run", "compile in memory and run",
     "  rmlc run counter.rml --cycles 10\n"
     "  rmlc run pid.rml < measured.csv > control.csv\n"
     "  rmlc run pid.rml -D KP=2.5 --input measured.chron --output control.chron\n"
     "  rmlc run pid.rml -- --help         options of the program itself\n",
     run_options},
    {"eval", "score each prediction before the program learns from its row",
     "  rmlc eval line.rml --progressive --metric mae:guess:y --input rows.csv\n"
     "  rmlc eval mail.rml --progressive --metric accuracy:guess:spam --metric f1:guess:spam < mail.csv\n"
     "  rmlc eval mail.rml --progressive --metric recent=accuracy:guess:spam --window 100 --output values.csv\n",
     eval_options},
    {"import", "convert an ONNX model to a source file",
     "  rmlc import model.onnx              model.rml, and model.safetensors with its tensors\n"
     "  rmlc import model.onnx -o net.rml --dim batch=1 --trainable 'fc*'\n"
     "  rmlc import enhance.onnx --state h_in=h_out\n"
     "  rmlc run model.onnx < rows.csv      without writing a source file\n",
     import_options},
    {"compare", "compare an ONNX model's results with those of ONNX Runtime",
     "  rmlc compare model.onnx\n"
     "  rmlc compare model.onnx --input model/test_data_set_0 --rtol 1e-4\n"
     "  rmlc compare model.onnx --onnxruntime /opt/onnxruntime/lib/libonnxruntime.so\n",
     compare_options},
    {"export", "convert a node to an ONNX model",
     "  rmlc export net.rml -o net.onnx\n"
     "  rmlc export filters.rml --node smooth   smooth.onnx; its state is inputs and outputs\n",
     export_options},
    {"check", "check names, types, clocks, causality and productivity",
     "  rmlc check pid.rml\n"
     "  rmlc check --signatures layers.rml  types and clocks of every node\n"
     "  rmlc check --error-format sarif *.rml 2> report.sarif\n",
     check_options},
    {"show", "print or draw the program after a phase of the compiler",
     "  rmlc show ast pid.rml\n"
     "  rmlc show clocks pid.rml --node control\n"
     "  rmlc show schedule pid.rml\n"
     "  rmlc show graph pid.rml -o pid.svg\n"
     "  rmlc show graph pid.rml --depth 1 -o pid.svg\n"
     "  rmlc show --after stabilise pid.rml\n",
     show_options},
    {"opt", "run passes of the compiler on the text that `show --after` prints",
     "  rmlc show --after instantiate pid.rml | rmlc opt simplify stabilise simplify\n"
     "  rmlc opt --list                    all passes, with the form of program they take and make\n",
     opt_options},
    {"diff", "print the derivative of a node as source",
     "  rmlc diff model.rml --node dense\n"
     "  rmlc diff model.rml --node dense -o diff_dense.rml\n",
     diff_options},
    {"gradcheck", "compare the gradient of a node with finite differences",
     "  rmlc gradcheck model.rml --node dense\n"
     "  rmlc gradcheck model.rml --node dense --input rows.csv --tolerance 1e-5\n",
     gradcheck_options},
    {"trace", "print a chronogram of inputs, outputs and chosen variables",
     "  rmlc trace counter.rml --cycles 8\n"
     "  rmlc trace pid.rml --node control --input steps.csv --watch integral --output trace.csv\n",
     trace_options},
    {"test", "run language tests",
     "  rmlc test tests/language\n"
     "  rmlc test tests/language/fby.rml --bless\n",
     test_options},
    {"fmt", "format sources in the canonical layout",
     "  rmlc fmt pid.rml\n  rmlc fmt --check *.rml\n  rmlc fmt - < pid.rml\n", fmt_options},
    {"explain", "the meaning of a word of the language, an error code, an operator or a node",
     "  rmlc explain fby\n  rmlc explain E0301\n  rmlc explain matmul\n  rmlc explain signal.hann\n"
     "  rmlc explain filters.low_pass      a node of filters.rml in this folder\n"
     "  rmlc explain -k median             all topics that mention the word\n",
     explain_options},
    {"doc", "a page of a library of yours, from its comments; its examples are run",
     "  rmlc doc filters.rml\n"
     "  rmlc doc mylib --title 'My library' > page.txt\n",
     doc_options},
    {"licenses", "list the libraries linked into rmlc and its programs, with their licenses", "  rmlc licenses\n",
     licenses_options},
    {"completion", "print a completion script for bash, zsh or fish",
     "  source <(rmlc completion bash)\n  rmlc completion fish > ~/.config/fish/completions/rmlc.fish\n",
     completion_options},
};

// The options that `run` and `eval` pass to the program, without those that the commands take themselves.
std::string options_of_program(const CLI::App& sub) {
  std::vector<std::string> own;
  for (const CLI::Option* option : sub.get_options()) own.push_back(option->get_name());
  return "Options of the program (`rmlc " + sub.get_name() +
         " FILE -- --help` lists them with its inputs and outputs):\n" + rml::rt::options_help(own);
}

CLI::App* subcommand(CLI::App& app, const Command& command) {
  CLI::App* sub = app.add_subcommand(command.name, command.text);
  sub->footer(std::string());  // removes the footer that is inherited from the whole program
  sub->footer([sub, examples = std::string("Examples:\n") + command.examples] {
    return passes_options_on(*sub) ? options_of_program(*sub) + "\n" + examples : examples;
  });
  sub->get_formatter()->column_width(34);
  return sub;
}

// Creating options takes long. So only the commands that the arguments name are created, or all for shell completion.
void add_commands(CLI::App& app, CommandLine& line, const std::vector<std::string_view>& arguments) {
  app.set_version_flag("--version", versions());
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  rmlc run counter.rml --cycles 10\n"
      "  rmlc build pid.rml && ./pid < measured.csv\n"
      "  rmlc check pid.rml\n"
      "Exit status: 0 success, 1 errors in the program or its input, 2 wrong usage, 70 internal error.\n");
  const auto is_named = [&](std::string_view name) { return std::ranges::find(arguments, name) != arguments.end(); };
  for (const Command& command : commands) {
    CLI::App* sub = subcommand(app, command);
    if (is_named(command.name) || is_named("completion")) command.options(sub, line);
  }
  for (const char* name : {"lsp"}) {
    CLI::App* sub = app.add_subcommand(name, "not available yet");
    sub->group("");  // hides the command from the help and from completions
    sub->allow_extras();
    sub->footer("Not available yet; the manual says what it will do.");
    sub->callback([&line, name] { line.not_available = name; });
  }
}

}  // namespace

int rml::command_line(int argc, char** argv) {
  rml::report_crashes();
  CommandLine line;
  CLI::App app("rmlc, the compiler of R(ML)2", "rmlc");
  // `rmlc help run` is `rmlc run --help`, and `rmlc help` is `rmlc --help`.
  std::string help = "--help";
  std::vector<char*> rewritten = {argv[0], argc > 2 ? argv[2] : help.data(), help.data(), nullptr};
  if (argc > 1 && argc < 4 && argv[1] == std::string_view("help")) argv = rewritten.data();
  add_commands(app, line, {argv, argv + argc});
  char** const dashes = std::find(argv, argv + argc, std::string_view("--"));
  const bool passes_on = argc > 1 && argv[1] == std::string_view("run") && dashes != argv + argc;
  // Options after the dashes are those of the program, --help included.
  if (passes_on) line.behind.assign(dashes + 1, argv + argc);
  try {
    app.parse(static_cast<int>((passes_on ? dashes : argv + argc) - argv), argv);
    rml::need_a_model(app);
    find_linked(line.build.libraries, line.build.file);
    find_linked(line.run.libraries, line.run.file);
    find_linked(line.eval.libraries, line.eval.file);
    find_linked(line.gradient.libraries, line.gradient.file);
    find_linked(line.trace.libraries, line.trace.file);
  } catch (const CLI::Success& done) {
    settle_options(line, false);
    const bool help = dynamic_cast<const CLI::CallForHelp*>(&done) != nullptr;
    return rml::run_command(line.invocation, [&](Invocation&) {
      if (!help) return app.exit(done);
      std::cout << rml::rt::wrapped_help(app.help());
      return static_cast<int>(rml::exit_success);
    });
  } catch (const CLI::ParseError& error) {
    return rml::report_wrong_usage(app, error, argc, argv);
  }
  std::optional<rml::ReadableOutput> shown;
  if (isatty(STDOUT_FILENO) != 0) shown.emplace(std::cout);
  if (!line.not_available.empty()) {
    std::cerr << "rmlc: " << line.not_available << " is not available yet\n";
    return rml::exit_usage;
  }
  if (app.got_subcommand("completion")) {
    line.command = [&](Invocation&) {
      std::cout << rml::shell_completion(line.shell, completed_commands(app));
      return rml::exit_success;
    };
  }
  if (!app.got_subcommand("test")) use_one_heap();
  settle_options(line, app.got_subcommand("run") || app.got_subcommand("eval"));
  return rml::run_command(line.invocation, line.command);
}
