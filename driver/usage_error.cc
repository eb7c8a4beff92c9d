// The messages about a wrong command line: an unknown command, with the one that was probably meant, or what CLI11
// found.
#include "driver/usage_error.h"

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/base/exit_status.h"
#include "frontend/diagnostic.h"
#include "runtime/base/readable.h"

namespace rml {
namespace {

// The command of rmlc for a name that other tools use; empty: there is none.
std::string_view command_meant(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> elsewhere[] = {
      {"compile", "build"}, {"make", "build"},     {"exec", "run"},     {"execute", "run"},      {"start", "run"},
      {"format", "fmt"},    {"lint", "check"},     {"verify", "check"}, {"typecheck", "check"},  {"docs", "doc"},
      {"man", "explain"},   {"convert", "import"}, {"grad", "diff"},    {"chronogram", "trace"}, {"watch", "trace"},
      {"train", "run"},     {"evaluate", "eval"},
  };
  const auto found = std::ranges::find(elsewhere, name, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(elsewhere) ? std::string_view() : found->second;
}

}  // namespace

int report_wrong_usage(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const CLI::App* at = &app;
  for (const CLI::App* sub : app.get_subcommands()) at = sub;
  const std::string name = at == &app ? "rmlc" : "rmlc " + at->get_name();
  std::string message = error.what();
  if (at == &app && argc > 1 && std::string_view(argv[1]).ends_with(".rml")) {
    message = std::string("no command '") + argv[1] + "'; write `rmlc run " + argv[1] + "`";
  } else if (const std::string_view meant = at == &app && argc > 1 ? command_meant(argv[1]) : ""; !meant.empty()) {
    message = std::string("no command '") + argv[1] + "'; did you mean '" + std::string(meant) + "'?";
  } else if (at == &app && argc > 1) {
    std::vector<std::string> commands;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
      commands.push_back(sub->get_name());
    const std::string near = did_you_mean(argv[1], commands);
    message = std::string("no command '") + argv[1] + "'";
    if (argv[1][0] == '-') message = std::string("unknown option '") + argv[1] + "'";
    if (!near.empty()) message += "; did you mean '" + near + "'?";
  }
  std::cerr << name << ": " << readable_message(message) << "\nsee " << name << " --help\n";
  return exit_usage;
}

}  // namespace rml
