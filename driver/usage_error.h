// Reports a wrong command line on stderr.
#pragma once

#include <CLI/CLI.hpp>

namespace rml {

// Returns the exit status of wrong usage. `argv` is the command line that `app` refused with `error`.
int report_wrong_usage(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv);

}  // namespace rml
