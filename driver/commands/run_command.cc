// Runs `rmlc run`, which compiles in memory and then behaves like the built program.
#include <algorithm>
#include <iostream>

#include "compiler/engines.h"
#include "compiler/internal_error.h"
#include "driver/commands/commands.h"
#include "runtime/base/readable.h"
#include "runtime/options/options.h"
#include "runtime/run/run.h"
#include "runtime/stream_io/address.h"

namespace rml {
namespace {

bool has_option(const std::vector<std::string>& arguments, const std::string& option) {
  return std::ranges::any_of(arguments,
                             [&](const std::string& a) { return a == option || a.starts_with(option + "="); });
}

std::unique_ptr<LoadedProgram> load(Session& session, const RunRequest& request) {
  if (request.engine == Engine::compiled) {
    const auto lowered = compile(session, request.file);
    // The cells of each key are stored separately and used in place.
    const Extras extras{.cells_apart = has_option(request.program_arguments, "--key")};
    return lowered ? load_compiled(session, lowered->program, request.libraries, extras) : nullptr;
  }
  const Front front = check(session, request.file);
  if (session.failed()) return nullptr;
  const auto entry = find_entry(session, front);
  if (!entry) return nullptr;
  const bool productivity = !request.unsimplified;  // the compiler checks productivity on the simplified core only
  const auto elaborated = elaborate(
      session, front, *entry, {.productivity = productivity, .simplified = !request.unsimplified}, session.diagnostics);
  const Failing failing = request.unsimplified ? Failing::where_needed : Failing::where_present;
  return elaborated ? load_reference(session, elaborated->core, request.libraries, failing) : nullptr;
}

// True if an --input (--output) is the address of a peer. Invalid arguments are reported later, when they are read.
bool names_peer(const std::vector<std::string>& arguments, std::string_view option) {
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    std::string_view value = arguments[k];
    if (value == option && k + 1 < arguments.size())
      value = arguments[k + 1];
    else if (value.starts_with(option) && value.substr(option.size()).starts_with('='))
      value = value.substr(option.size() + 1);
    else
      continue;
    if (rt::is_address(value) || rt::is_address(value.substr(value.find('=') + 1))) return true;
  }
  return false;
}

}  // namespace

int run_in_memory(const Session& session, const rml_program& program, std::vector<std::string> arguments,
                  const std::vector<std::string>& libraries) {
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  const CurrentPhase phase("run");
  std::vector<std::string> sources = session.files_read();
  sources.insert(sources.end(), libraries.begin(), libraries.end());
  return rt::run_made_of(sources, &program, static_cast<int>(arguments.size()), argv.data());
}

int run(Invocation& invocation, const RunRequest& request) {
  if (const std::string wrong = rt::complaint_of_options(request.program_arguments); !wrong.empty()) {
    std::cerr << "rmlc run " << readable_message(request.file + ": " + wrong) << "\nsee rmlc run --help\n";
    return exit_usage;
  }
  const bool live =
      names_peer(request.program_arguments, "--input") && names_peer(request.program_arguments, "--output");
  invocation.session.options.early_rows = live ? EarlyRows::all : EarlyRows::never;
  invocation.session.options.for_ranks = has_option(request.program_arguments, "--ranks");
  if (invocation.session.options.for_ranks && request.engine == Engine::reference) {
    std::cerr << "rmlc: --ranks cannot be combined with --engine reference, which runs as one rank\n";
    return exit_usage;
  }
  if (request.unsimplified && request.engine != Engine::reference) {
    std::cerr << "rmlc: --unsimplified needs --engine reference: compiled code uses the simplified equations\n";
    return exit_usage;
  }
  const auto program = load(invocation.session, request);
  invocation.print_diagnostics();
  if (!program) return exit_fault;
  std::vector<std::string> arguments{"rmlc run " + request.file};
  if (request.horizon > 0) {
    arguments.emplace_back("--horizon");
    arguments.push_back(std::to_string(request.horizon));
  }
  for (const std::string& pattern : invocation.session.options.watches) {
    arguments.emplace_back("--watch");
    arguments.push_back(pattern);
  }
  arguments.insert(arguments.end(), request.program_arguments.begin(), request.program_arguments.end());
  return run_in_memory(invocation.session, program->table(), std::move(arguments), request.libraries);
}

}  // namespace rml
