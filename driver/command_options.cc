// Defines the options that several commands share, each once.
#include <algorithm>
#include <filesystem>

#include "compiler/import_model.h"
#include "compiler/set_limit.h"
#include "driver/command_line.h"
#include "runtime/base/failure.h"
#include "runtime/base/parallel.h"
#include "runtime/checkpoint/renaming.h"
#include "runtime/options/complaints.h"

namespace rml {
namespace {

constexpr const char* group_of_models = "ONNX models";

void raise_limit(Limits& limits, const std::string& text) {
  const std::string wrong = set_limit(limits, text);
  if (!wrong.empty()) throw CLI::ValidationError("--limit " + text, wrong);
}

// Checks a renaming. A malformed one is a usage error, whatever the file contains.
std::string check_renaming(const std::string& text) {
  try {
    rt::parse_map({text});
  } catch (const rt::Failure& failure) {
    // Removes the option's name, which CLI11 adds again.
    return std::string(failure.what()).substr(std::string_view("--map ").size());
  }
  return "";
}

}  // namespace

CLI::Option* list_option(CLI::App* app, const std::string& name, std::vector<std::string>& to, const char* text) {
  return app->add_option(name, to, text)->allow_extra_args(false);
}

CLI::Option* name_option(CLI::App* app, const std::string& name, std::string& to, const char* text) {
  return app->add_option(name, to, text)->check(rt::complaint_of_name);
}

CLI::Option* made_file(CLI::App* app, std::string& to, const char* text) {
  return name_option(app, "-o", to, text)->check([](const std::string& name) {
    return name == "-" ? "'-': the output is a file; './-' is a file of this name" : std::string();
  });
}

CLI::Option* printed_file(CLI::App* app, std::string& to, const char* text) {
  return app->add_option("-o", to, text)->transform([](std::string name) {
    if (name.empty()) throw CLI::ValidationError(rt::complaint_of_name(name));
    return name == "-" ? "" : name;
  });
}

void add_output_options(CLI::App* app, CommandLine& line) {
  app->add_option("--color", line.color, "colour of messages: auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app->add_option("--error-format", line.error_format, "messages as human, json or sarif")
      ->check(CLI::IsMember({"human", "json", "sarif"}));
  app->add_flag("--time-passes", line.invocation.time_passes, "print the time of each phase on stderr")->group("");
}

void add_model_options(CLI::App* app, CommandLine& line) {
  ModelOptions& options = line.invocation.session.options.model;
  const auto of_models = [&](const std::string& name, std::vector<std::string>& to, const char* text,
                             const char* type) {
    list_option(app, name, to, text)->type_name(type)->group(group_of_models);
  };
  of_models("--dim", options.dimensions, "size of a free dimension, by its name or position: N=1, x.0=1", "NAME=N");
  of_models("--fix", options.fixed, "fix an input to a value: axes=[0]", "INPUT=VALUE");
  of_models("--state", options.states, "feed an output back as an input of the next cycle", "INPUT=OUTPUT");
  of_models("--stream", options.streams, "treat an axis as time, one step a cycle: axis 1 of the first input, or x.1",
            "[INPUT.]AXIS");
  of_models("--trainable", options.trainable, "tensors that become trainable parameters, by name: '*', 'fc*'",
            "PATTERN");
}

void need_a_model(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    std::string source;  // the first file, for a message if no file is a model
    for (const CLI::Option* files : command->get_options([](const CLI::Option* o) { return o->get_positional(); })) {
      if (std::ranges::any_of(files->results(), is_model)) return;
      if (source.empty() && !files->results().empty()) source = files->results().front();
    }
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_group() == group_of_models && option->count() > 0 && !source.empty())
        throw CLI::ValidationError(option->get_name(), "'" + source + "' is not an ONNX model");
    }
  }
}

void add_limits(CLI::App* app, CommandLine& line) {
  std::string names;
  for (const NamedLimit& limit : limit_names) names += (names.empty() ? "" : ", ") + std::string(limit.name);
  app->add_option_function<std::vector<std::string>>(
         "--limit",
         [&line](const std::vector<std::string>& list) {
           for (const std::string& text : list) raise_limit(line.invocation.session.options.limits, text);
         },
         "largest size of a program before E0702: " + names)
      ->allow_extra_args(false)
      ->type_name("NAME=N");
}

void add_front_options(CLI::App* app, CommandLine& line) {
  CompileOptions& options = line.invocation.session.options;
  name_option(app, "--node", options.node, "the node to start from (default: main, or the only one)")
      ->type_name("NAME");
  list_option(app, "-D", options.definitions, "value of a constant, or of an input of the node")
      ->type_name("NAME=VALUE");
  app->add_option_function<std::vector<std::string>>(
         "-I", [&](const std::vector<std::string>& list) { options.import_folders.assign(list.begin(), list.end()); },
         "folder to search for imports; the folders of RMLC_PATH (separated by colons) are searched afterwards")
      ->allow_extra_args(false)
      ->type_name("DIR");
  add_limits(app, line);
  add_model_options(app, line);
  add_output_options(app, line);
}

void add_core_options(CLI::App* app, CommandLine& line) {
  app->add_flag("!--no-stabilise", line.invocation.session.options.stabilise,
                "compute log(1 + x), exp(x) - 1 and similar forms as they are written");
}

void add_watch(CLI::App* app, CommandLine& line, const char* text) {
  list_option(app, "--watch", line.invocation.session.options.watches, text)->type_name("PATTERN");
}

void add_changing(CLI::App* app, CommandLine& line) {
  CompileOptions& options = line.invocation.session.options;
  list_option(app, "--freeze", options.frozen,
              "parameters that training does not move, by path: net.conv*; may be repeated")
      ->type_name("PATTERN");
  list_option(app, "--tunable", options.tunable,
              "a constant that can be changed between two cycles, as a parameter; may be repeated")
      ->type_name("NAME");
}

void add_parameters(CLI::App* app, CommandLine& line) {
  rt::ParameterSource& source = line.invocation.session.options.parameters;
  auto* load = name_option(app, "--load-params", source.file,
                           "start with the parameters of this file (safetensors, as --save writes it)");
  load->type_name("FILE");
  list_option(app, "--map", source.map, "a new name for a parameter, an instance or a pattern of that file")
      ->needs(load)
      ->check(check_renaming)
      ->type_name("OLD=NEW");
  app->add_flag("--cast-params", source.cast, "round floats of the file to the narrower types of the program")
      ->needs(load);
  app->add_flag("--partial", source.partial, "load the parameters that the file has, and list them on stderr")
      ->needs(load);
}

void add_native_options(CLI::App* app, CommandLine& line) {
  add_core_options(app, line);
  TargetOptions& target = line.invocation.session.options.target;
  app->add_option_function<std::string>(
         "-O",
         [&target](const std::string& level) {
           target.small = level == "s";
           target.optimization = target.small ? 2 : level[0] - '0';
         },
         "optimisation level, 0 to 3 (default 2); s: small code, as for microcontrollers at every level below 3")
      ->check(CLI::IsMember({"0", "1", "2", "3", "s"}))
      ->type_name("N");
  name_option(app, "--cpu", line.cpu, "processor (default: native for run and eval, generic for build)")
      ->type_name("NAME");
  auto* fast = app->add_flag("--fast-math", target.fast_math,
                             "allow reassociation and approximations of floating-point operations");
  app->add_flag("--strict-math", target.strict_math,
                "compute sums and functions with the same bits as the reference engine")
      ->excludes(fast);
  app->add_option_function<std::string>(
         "--chunk", [&line](const std::string& n) { line.invocation.session.options.whole_segment = n == "segment"; },
         "number of cycles computed together: 1 (default), or a whole segment")
      ->check(CLI::IsMember({"1", "segment"}))
      ->type_name("N");
  app->add_option("--threads", target.threads, "threads for loops over large tensors (default 1)")
      ->check(CLI::Range(1u, RML_MOST_THREADS))
      ->type_name("N");
  app->add_option("--work-of-thread", target.work_of_thread, "nanoseconds that are worth a thread")->group("");
  app->add_option("--part", target.part, "statements of a function")->check(CLI::PositiveNumber)->group("");
}

// Earlier versions called the sweeps of a unit passes.
std::string former_grain(std::string& grain) {
  if (grain == "pass") grain = "sweep";
  return "";
}

void add_back_options(CLI::App* app, CommandLine& line) {
  add_native_options(app, line);
  app->add_flag_callback(
      "--parallel",
      [&line] {
        Grain& grain = line.invocation.session.options.grain;
        if (grain == Grain::none) grain = Grain::stage;
      },
      "compile to a network of tasks that run concurrently (--workers of the program)");
  app->add_option_function<std::string>(
         "--grain",
         [&line](const std::string& grain) {
           line.invocation.session.options.grain = grain == "op"      ? Grain::op
                                                   : grain == "stage" ? Grain::stage
                                                                      : Grain::sweep;
         },
         "size of a task: a unit of the schedule with all sweeps over a segment (sweep), a part that is long enough "
         "to pay (stage, default), an equation (op); implies --parallel")
      ->transform(CLI::Validator(former_grain, ""))
      ->check(CLI::IsMember({"sweep", "stage", "op"}))
      ->type_name("G");
}

void add_libraries(CLI::App* app, std::vector<std::string>& libraries) {
  list_option(app, "--link", libraries, "object, archive or shared library that defines external nodes")
      ->type_name("FILE");
}

void find_linked(std::vector<std::string>& libraries, const std::string& source) {
  for (std::string& library : libraries) {
    const std::filesystem::path beside = std::filesystem::path(source).parent_path() / library;
    const bool here = std::filesystem::is_regular_file(library);
    if (!here && !std::filesystem::is_regular_file(beside))
      throw CLI::ValidationError("--link", "File does not exist: " + library);
    library = std::filesystem::absolute(here ? std::filesystem::path(library) : beside).string();
  }
}

}  // namespace rml
