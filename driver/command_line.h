// What the command line says, and the options that several commands have.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "driver/commands/commands.h"

namespace rml {

struct CommandLine {
  Invocation invocation;
  BuildRequest build;
  RunRequest run;
  EvalRequest eval;
  ImportRequest import;
  ExportRequest export_;
  CompareRequest compare;
  CheckRequest check;
  ShowRequest show;
  OptRequest opt;
  DiffRequest diff;
  GradientRequest gradient;
  TraceRequest trace;
  TestRequest test;
  FormatRequest format;
  std::string topic, shell;
  std::string color = "auto", error_format = "human", engine = "compiled", cpu;
  std::function<int(Invocation&)> command;  // set by the subcommand that was parsed
  std::vector<std::string> behind;          // `--`: options of the program that is run
  std::string not_available;                // or the name of what is asked for but does not exist yet
};

CLI::Option* list_option(CLI::App* app, const std::string& name, std::vector<std::string>& to, const char* text);
// Of a name, which is not empty.
CLI::Option* name_option(CLI::App* app, const std::string& name, std::string& to, const char* text);
// -o of what makes a file, and of what is printed without it: there, - is standard output too.
CLI::Option* made_file(CLI::App* app, std::string& to, const char* text);
CLI::Option* printed_file(CLI::App* app, std::string& to, const char* text);

// How messages are told.
void add_output_options(CLI::App* app, CommandLine& line);
// Of ONNX models that are read as programs.
void add_model_options(CLI::App* app, CommandLine& line);
// Throws if they are given of sources alone, which they would do nothing to.
void need_a_model(const CLI::App& app);
void add_limits(CLI::App* app, CommandLine& line);
// Of all that reads a program: node, constants, imports, and the three above.
void add_front_options(CLI::App* app, CommandLine& line);
void add_core_options(CLI::App* app, CommandLine& line);
// Of all that makes native code: a program in one piece, or a network as well.
void add_native_options(CLI::App* app, CommandLine& line);
void add_back_options(CLI::App* app, CommandLine& line);
void add_watch(CLI::App* app, CommandLine& line, const char* text);
void add_freeze(CLI::App* app, CommandLine& line);
// Of what is compiled: a program that runs has the like of its own (runtime/options/options.cc).
void add_parameters(CLI::App* app, CommandLine& line);
void add_libraries(CLI::App* app, std::vector<std::string>& libraries);
// Files of --link: in the current folder, or else beside the source.
void find_linked(std::vector<std::string>& libraries, const std::string& source);

}  // namespace rml
