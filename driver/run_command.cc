// `rmlc run`: compile in memory, then behave as the built program would.
#include <iostream>

#include "driver/commands.h"
#include "driver/engines.h"
#include "driver/internal_error.h"
#include "runtime/run.h"

namespace rml {
namespace {

std::unique_ptr<LoadedProgram> load(Compilation& c, const RunRequest& request) {
  if (request.engine == Engine::compiled) {
    const auto lowered = compile(c, request.file);
    return lowered ? load_compiled(c, lowered->program, request.libraries) : nullptr;
  }
  const Front front = check(c, request.file);
  if (c.failed()) return nullptr;
  const auto entry = find_entry(c, front);
  if (!entry) return nullptr;
  const auto elaborated = elaborate(c, front, *entry, {}, c.diagnostics);
  return elaborated ? load_reference(c, elaborated->core, request.libraries) : nullptr;
}

}  // namespace

int run(Session& session, const RunRequest& request) {
  const auto program = load(session.compilation, request);
  session.print_diagnostics();
  if (!program) return exit_fault;
  std::vector<std::string> arguments{"rmlc run " + request.file};
  if (request.horizon > 0) {
    arguments.emplace_back("--horizon");
    arguments.push_back(std::to_string(request.horizon));
  }
  for (const std::string& pattern : session.compilation.options.watches) {
    arguments.emplace_back("--watch");
    arguments.push_back(pattern);
  }
  arguments.insert(arguments.end(), request.program_arguments.begin(), request.program_arguments.end());
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  const CurrentPhase phase("run");
  std::vector<std::string> sources = session.compilation.files_read();
  sources.insert(sources.end(), request.libraries.begin(), request.libraries.end());
  return rt::run_made_of(sources, &program->table(), static_cast<int>(arguments.size()), argv.data());
}

}  // namespace rml
