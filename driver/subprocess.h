// Programs that rmlc calls: the C compiler that links, dot that draws.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rml {

struct Finished {
  int status = 0;      // exit status; 128 + signal if one killed it
  std::string errors;  // what it wrote to stderr
  std::string output;  // and to stdout
};

// The folders of PATH that have absolute names: what lies in the current folder is not what a user means by `cc`.
std::vector<std::string> program_folders();
// The program's place in one of them.
std::optional<std::string> find_on_path(const std::string& name);
// Runs arguments[0] to its end, stdin empty; nothing when it cannot be started.
std::optional<Finished> run_to_end(const std::vector<std::string>& arguments, const std::string& folder = {});

}  // namespace rml
