// Defines the parsed command line, and the options that several commands share.
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
  ExplainRequest explain;
  std::vector<std::string> explain_folders;
  DocRequest doc;
  std::string shell;
  std::string color = "auto", error_format = "human", engine = "compiled", cpu;
  std::function<int(Invocation&)> command;  // runs the command; set by the parsed subcommand
  std::vector<std::string> behind;          // words after `--`, which are options of the program that is run
  std::string not_available;                // the name of something requested that does not exist yet
};

CLI::Option* list_option(CLI::App* app, const std::string& name, std::vector<std::string>& to, const char* text);
// Adds an option whose argument is a non-empty name.
CLI::Option* name_option(CLI::App* app, const std::string& name, std::string& to, const char* text);
// Adds -o for commands that write a file or else print. `-` means standard output.
CLI::Option* made_file(CLI::App* app, std::string& to, const char* text);
CLI::Option* printed_file(CLI::App* app, std::string& to, const char* text);

// Adds the options for the form of messages.
void add_output_options(CLI::App* app, CommandLine& line);
// Adds the options for ONNX models that are read as programs.
void add_model_options(CLI::App* app, CommandLine& line);
// Throws if options for models are given while all files are sources, where they would have no effect.
void need_a_model(const CLI::App& app);
void add_limits(CLI::App* app, CommandLine& line);
// Adds the options of every command that reads a program: node, constants, imports, and the three sets above.
void add_front_options(CLI::App* app, CommandLine& line);
void add_core_options(CLI::App* app, CommandLine& line);
// Adds the options of every command that makes native code, for a program in one piece or a network.
void add_native_options(CLI::App* app, CommandLine& line);
void add_back_options(CLI::App* app, CommandLine& line);
void add_watch(CLI::App* app, CommandLine& line, const char* text);
void add_changing(CLI::App* app, CommandLine& line);  // --freeze and --tunable: the values that can change
// Adds the options for initial parameters of a compiled program. A running program has similar options of its own
// (runtime/options/options.cc).
void add_parameters(CLI::App* app, CommandLine& line);
void add_libraries(CLI::App* app, std::vector<std::string>& libraries);
// Finds the files of --link in the current folder, or else beside the source.
void find_linked(std::vector<std::string>& libraries, const std::string& source);

}  // namespace rml
